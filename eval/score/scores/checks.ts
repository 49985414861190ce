import { roundedBelow, ROUNDING } from "../../test/rounding.ts";
import { CHECK_DEFAULTS, type MeasuredReply, nameOf } from "../../test/check_kinds.ts";
import type { CheckResult } from "../../test/checks.ts";
import { type Decision, negated, notMet, undecided } from "../../test/decision.ts";
import { planChecks, type PlannedCheck } from "../planned_checks.ts";
import { referencesOf } from "../references.ts";
import {
  NOT_ASKED,
  type ScoredBatch,
  type ScoreEntry,
  type ScoreInput,
  type Scorer,
  type ScorerResult,
} from "./scorer.ts";
import { semanticSimilarity } from "./semantic_similarity.ts";
import { z } from "zod";
import { askVotes } from "../judge_structured.ts";

/** `checks`: the weighted share of a turn's checks that are met. */
export const checksScore: Scorer = {
  describe: () => [{
    name: "checks",
    definition: "the weighted mean of the turn's checks, each 1 if it is met and 0 if not; null " +
      "if the turn has none; missing if the judge, the embeddings or a check itself fails",
    range: [0, 1],
    method: "sum of the weights of the checks that are met / sum of all weights; check_results " +
      "of a turn has each check with its reason",
    limits: "a failed check that is required keeps the turn from passing, whatever its scores are",
  }],

  forBatch(batch) {
    const plans = planChecks(batch.scenarios);
    if (plans.size === 0) return undefined;
    return {
      plan: (interaction) => ({ checks: plans.has(interaction) }),
      async score(input: ScoreInput): Promise<ScorerResult> {
        const planned = plans.get(input.interaction);
        if (!planned) return { scores: { checks: { value: null } } };
        const subjects = createSubjects(input);
        const results = await Promise.all(
          planned.map(async (one) =>
            keptOf(one, input, batch) ??
              toResult(one, await decideOne(one, { subjects, batch, judge: input.judge }))
          ),
        );
        return { scores: { checks: weigh(results) }, fields: { check_results: results } };
      },
    };
  },
};

/** What the judge said of the same criterion before, if the run scores again. */
function keptOf(
  { check, isAboutConversation }: PlannedCheck,
  { earlier }: ScoreInput,
  { rescored }: ScoredBatch,
): CheckResult | undefined {
  if (check.type !== "judge" || rescored.has("judge") || rescored.has("judge_votes")) return;
  const name = nameOf(check);
  // A name that the check was given, or that is shortened, may be that of another criterion.
  const tells = check.name === undefined && !name.endsWith("…");
  if (rescored.has("checks") && !tells) return;
  const { weight = CHECK_DEFAULTS.weight, required = CHECK_DEFAULTS.required } = check;
  const found = earlier?.check_results?.find((one) =>
    one.type === "judge" && one.name === name && one.value !== null &&
    (one.scope === "conversation") === isAboutConversation
  );
  return found && { ...found, weight, required };
}

/** The subject of a check: one reply, or all replies of the conversation. */
interface Subject {
  reply: MeasuredReply;
  references: string[];
  /** For the judge. */
  texts: Record<string, string>;
}

function createSubjects(input: ScoreInput): (isAboutConversation: boolean) => Subject {
  const { interaction, reply, latencyMs, firstTokenMs, usage } = input;
  const single: Subject = {
    reply: { text: reply, latencyMs, firstTokenMs, outputTokens: usage?.output_tokens ?? null },
    references: referencesOf(interaction),
    texts: { user_message: interaction.user_message, reply },
  };
  let whole: Subject | undefined;
  return (isAboutConversation) => {
    if (!isAboutConversation) return single;
    return whole ??= joinConversation(input);
  };
}

function joinConversation({ interaction, reply, latencyMs, usage, ...input }: ScoreInput): Subject {
  const before = input.conversation();
  const spent = input.spentBefore();
  const said = [
    ...before,
    { role: "user", content: interaction.user_message },
    { role: "assistant", content: reply },
  ];
  const replies = said.filter(({ role }) => role === "assistant").map(({ content }) => content);
  return {
    reply: {
      text: replies.join("\n"),
      latencyMs: spent.latencyMs === undefined || latencyMs === undefined
        ? undefined
        : spent.latencyMs + latencyMs,
      firstTokenMs: input.firstTokenMs, // of the last reply
      outputTokens: usage && spent.outputTokens !== null
        ? spent.outputTokens + usage.output_tokens
        : null,
    },
    references: [],
    texts: { conversation: said.map(({ role, content }) => `${role}: ${content}`).join("\n\n") },
  };
}

async function decideOne(
  { check, isAboutConversation }: PlannedCheck,
  { subjects, batch, judge }: Pick<ScoreInput, "judge"> & {
    subjects: ReturnType<typeof createSubjects>;
    batch: ScoredBatch;
  },
): Promise<Decision> {
  const subject = subjects(isAboutConversation);
  const decision = check.type === "similar"
    ? await decideSimilar(check, subject, batch)
    : check.type === "judge"
    ? await decideJudge(check.value, subject, { ...batch, judge })
    : await batch.checks.decide({ check, ...subject.reply });
  if (decision.isUntold && subject.reply.latencyMs === undefined) return undecided(NOT_ASKED);
  return check.negate ? negated(decision) : decision;
}

async function decideSimilar(
  { value, min }: { value?: string | undefined; min: number },
  { reply: { text }, references }: Subject,
  { semantics, changed }: ScoredBatch,
): Promise<Decision> {
  if (changed.embeddings) return undecided(changed.embeddings);
  const wanted = value === undefined ? references : [value];
  if (wanted.length === 0) return undecided("there is no text to compare with");
  const all = await Promise.all(
    wanted.map((reference) => semanticSimilarity({ reply: text, reference }, semantics)),
  );
  const found = all.reduce((best, one) => (one.value ?? 0) > (best.value ?? 0) ? one : best);
  if (found.value === null) return undecided(found.missing ?? "there is no similarity");
  if (found.value >= min - ROUNDING) return { value: 1 };
  return notMet(`its similarity is ${roundedBelow(found.value, { limit: min, digits: 3 })}`);
}

/** The majority of the readable votes decides. Rejects once aborted. */
async function decideJudge(
  criterion: string,
  { texts }: Subject,
  { judge: model, changed, votes, signal }: ScoredBatch & Pick<ScoreInput, "judge">,
): Promise<Decision> {
  if (!model) return undecided(changed.judge ?? "no judge");
  const answers = await askVotes({
    name: "criterion",
    instructions: "You decide whether a criterion is met by an assistant. It is met only if all " +
      `of it is.\n\nThe criterion: ${criterion}`,
    texts,
    verdict: "verdict",
    form: '"met": true or false',
    fields: { met: z.boolean() },
  }, { model, votes, signal });
  const read = answers.filter((vote) => typeof vote !== "string");
  const met = read.filter((vote) => vote.met);
  const against = read.length - met.length;
  if (read.length === 0) return undecided(answers[0] as string);
  if (met.length === against) return undecided("the judge's votes are tied");
  if (met.length > against) return { value: 1 };
  return notMet(read.find((vote) => !vote.met)!.reason || "the judge says so");
}

function toResult(
  { check, isAboutConversation }: PlannedCheck,
  { value, reason }: Decision,
): CheckResult {
  return {
    name: nameOf(check),
    type: check.type,
    ...(isAboutConversation && { scope: "conversation" as const }),
    value,
    weight: check.weight ?? CHECK_DEFAULTS.weight,
    required: check.required ?? CHECK_DEFAULTS.required,
    ...(reason !== undefined && { reason }),
  };
}

/** The weighted mean; missing if a check is. */
function weigh(results: CheckResult[]): ScoreEntry {
  const open = results.find(({ value }) => value === null);
  if (open) return { value: null, reason: `${open.name}: ${open.reason}` };
  const sum = (of: (result: CheckResult) => number) =>
    results.reduce((sum, result) => sum + of(result), 0);
  return { value: sum(({ value, weight }) => weight * value!) / sum(({ weight }) => weight) };
}
