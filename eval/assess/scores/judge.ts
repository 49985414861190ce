import { gradeReply } from "../judge/grade.ts";
import { referenceOf, referencesOf } from "../references.ts";
import type { ScoreInput, Scorer } from "./scorer.ts";

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

  forBatch({ plansJudge, judge: model, changed, rubric, votes, signal }) {
    if (!plansJudge) return undefined;
    /** There must be something to grade by. */
    const isGraded = (reference: string | undefined) =>
      reference !== undefined || rubric !== undefined;
    return {
      plan: (interaction) => ({ judge: isGraded(referenceOf(interaction)) }),
      async score({ interaction, reply }: ScoreInput) {
        const { user_message: userMessage } = interaction;
        const references = referencesOf(interaction);
        const reference = references.length > 1
          ? `One of these:\n${references.map((text) => `- ${text}`).join("\n")}`
          : references[0];
        if (!isGraded(reference)) return { scores: { judge: null } };
        if (!model) {
          return { scores: { judge: null }, missing: { judge: changed.judge ?? "no judge" } };
        }
        const { value, result } = await gradeReply(
          { userMessage, reply, reference },
          { model, rubric, votes, signal },
        );
        return {
          scores: { judge: value },
          ...(value === null && { missing: { judge: result.error ?? "judge_unreadable" } }),
          fields: { judge: result },
        };
      },
    };
  },
};
