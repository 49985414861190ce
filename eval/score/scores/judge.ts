import { referenceOf, referencesOf } from "../references.ts";
import type { ScoreInput, Scorer } from "./scorer.ts";
import { z } from "zod";
import type { JudgeResult } from "../../test/interaction_result.ts";
import { mean, sampleVariance } from "../mean.ts";
import { askVotes, type VoteOptions } from "../judge_structured.ts";

const HIGHEST = 10;

const RUBRIC = "Grade how well the reply does what the reference does: the same facts, the same " +
  "outcome for the user, nothing wrong or made up beside it. Wording, length and style do not " +
  "matter. 10: fully equivalent. 7: right, with a small omission or addition. 4: partly right. " +
  "1: wrong but on the subject. 0: unrelated, empty or harmful.";

/**
 * Has a reply graded `votes` times by the caller's rubric, or ours; if there is no reference, by the
 * rubric only. The value is the mean of the grades, in [0, 1]; `null`, with the reason in `error`, if
 * a vote cannot be read: the mean of the others could be higher. The mean, because grades are steps
 * of one scale: a median or a majority of few votes would lose information. Rejects once aborted.
 */
export async function judgeReply(
  { userMessage, reply, reference }: {
    userMessage: string;
    reply: string;
    reference: string | undefined;
  },
  { rubric = RUBRIC, ...options }: VoteOptions & { rubric: string | undefined },
): Promise<{ value: number | null; result: JudgeResult }> {
  const votes = await askVotes({
    name: "grade",
    instructions: `You grade a reply on a scale from 0 to ${HIGHEST}, in whole steps.\n\n${rubric}`,
    texts: { user_message: userMessage, reference, reply },
    verdict: "grade",
    form: `"grade": integer from 0 to ${HIGHEST}`,
    fields: { grade: z.int().min(0).max(HIGHEST) },
  }, options);
  const read = votes.filter((vote) => typeof vote !== "string");
  const grades = read.map(({ grade }) => grade);
  const spread = sampleVariance(grades);
  const error = votes.find((vote) => typeof vote === "string");
  const grade = error ? null : mean(grades);
  return {
    value: grade === null ? null : grade / HIGHEST,
    result: {
      model: options.model.name,
      grade,
      reason: read[0]?.reason ?? null,
      votes: read,
      spread: spread === null ? null : Math.sqrt(spread),
      ...(error && { error }),
    },
  };
}

/** `judge`: a model's grade. */
export const judgeScore: Scorer = {
  describe: ({ judge }) => [{
    name: "judge",
    definition: "a model's grade of the reply against the reference, by a rubric; null if " +
      "there is no judge or its verdict cannot be read",
    range: [0, 1],
    method: judge
      ? `grade 0 to 10 by ${judge.name}, the mean of the votes, divided by 10`
      : "no judge is configured",
  }],

  forBatch({ plansJudge, changed, rescored, rubric, votes, signal }) {
    if (!plansJudge) return undefined;
    /** A grade needs a reference or a rubric. */
    const isGraded = (reference: string | undefined) =>
      reference !== undefined || rubric !== undefined;
    return {
      plan: (interaction) => ({ judge: isGraded(referenceOf(interaction)) }),
      keep(_interaction, { judge, scores }) {
        if (["judge", "rubric", "judge_votes"].some((part) => rescored.has(part))) return undefined;
        if (!judge || typeof scores.judge !== "number") return undefined;
        return { scores: { judge: { value: scores.judge } }, fields: { judge } };
      },
      async score({ interaction, reply, judge: model }: ScoreInput) {
        const { user_message: userMessage } = interaction;
        const references = referencesOf(interaction);
        const reference = references.length > 1
          ? `One of these:\n${references.map((text) => `- ${text}`).join("\n")}`
          : references[0];
        if (!isGraded(reference)) return { scores: { judge: { value: null } } };
        if (!model) {
          return { scores: { judge: { value: null, reason: changed.judge ?? "no judge" } } };
        }
        const { value, result } = await judgeReply(
          { userMessage, reply, reference },
          { model, rubric, votes, signal },
        );
        const reason = value === null ? result.error ?? "judge_unreadable" : undefined;
        return { scores: { judge: { value, reason } }, fields: { judge: result } };
      },
    };
  },
};
