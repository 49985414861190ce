import type { withSpan } from "../ask/observation.ts";
import { type EvaluateRequest, WebhookScorers } from "../test/evaluate_request.ts";
import { ScoredBy } from "../test/evaluate_response.ts";
import type { Interaction } from "../test/scenario.ts";
import type { Assessor, ReplyCircumstances } from "./assessment.ts";
import { createSharedMemo } from "./background/memo.ts";
import { createBatchSemantics } from "./batch_semantics.ts";
import { describeScoring, type ScoringPorts } from "./scoring_ports.ts";
import { meterJudge } from "./judge_model.ts";
import { conclude } from "./score.ts";
import type {
  RepliedTurn,
  ScoredBatch,
  ScoreEntry,
  Scorer,
  ScorerResult,
  TurnScorer,
} from "./scores/scorer.ts";
import { scorers as everyScorer } from "./scorers.ts";

/** In the order of the scorers. Plain data, so that the memo does not keep a batch in memory. */
type Outcomes = readonly ScorerResult[];

/** Shared by all runs: one memory budget for the process. */
const remembered = createSharedMemo<Outcomes, [judge: RepliedTurn["judge"]]>();

/** `scored_by` is unset in runs of releases that did not store it. */
type AssessedBatch =
  & Pick<EvaluateRequest, "test_batch" | "rubric" | "judge_votes">
  & { scored_by?: unknown; scorers?: unknown; rescored?: string[] | undefined };

interface AssessorOptions {
  ports: ScoringPorts;
  signal: AbortSignal;
  /** Called if a label cannot be read, with the first error of each kind. */
  onLabelFailure?: (error: unknown) => void;
  /** The whole table if unset. */
  scorers?: readonly Scorer[];
}

/** Scores the replies of one batch with every scorer of the table. */
export function createAssessor(batch: AssessedBatch, options: AssessorOptions): Assessor {
  const planned = planBatch(batch, options);
  let isAnswered = false;
  // Only until the first reply arrives; after that the encoder is left to the replies.
  planned.semantics.encodeReferences(() => isAnswered || options.signal.aborted);
  const { scorers = everyScorer } = options;
  const all = scorers.flatMap((scorer) => scorer.forBatch(planned) ?? []);
  const ours = all.filter(({ hasCallersNames }) => !hasCallersNames);
  const repeatable = all.filter((scorer) => scorer.isRepeatable === true);
  const fresh = all.filter((scorer) => scorer.isRepeatable !== true);

  /** Models often repeat a reply; the same reply to a turn is scored once. */
  const byTurn = new WeakMap<
    Interaction,
    (reply: string, judge: RepliedTurn["judge"]) => Promise<Outcomes>
  >();

  function scoreOnce({ interaction, reply, judge }: RepliedTurn): Promise<Outcomes> {
    const known = byTurn.getOrInsertComputed(interaction, () =>
      remembered.of(
        (text, judge) => scoreWith(repeatable, { interaction, reply: text, judge }),
        (outcomes) => outcomes.every(isLasting),
      ));
    return known(reply, judge);
  }

  /** In the order of the table. A name chosen by a caller does not replace a built-in one. */
  function merge<T>(read: (scorer: TurnScorer) => Record<string, T>): Record<string, T> {
    return Object.assign({}, ...all.map(read), ...ours.map(read));
  }

  return {
    async assess(interaction, reply, circumstances = {}) {
      isAnswered = true;
      const { earlier } = circumstances;
      const kept = new Map(
        all.flatMap((scorer) => {
          const result = earlier && scorer.keep?.(interaction, earlier);
          return result ? [[scorer as TurnScorer, result] as const] : [];
        }),
      );
      const meter = planned.judge && meterJudge(planned.judge);
      const turn: RepliedTurn = { interaction, reply, judge: meter?.judge };
      const isAsked = (scorer: TurnScorer) => !kept.has(scorer);
      const again = { known: repeatable.filter(isAsked), asked: fresh.filter(isAsked) };
      const [known, asked] = await Promise.all([
        again.known.length === repeatable.length ? scoreOnce(turn) : scoreWith(again.known, turn),
        scoreWith(again.asked, { ...turn, ...UNKNOWN_CIRCUMSTANCES, ...circumstances }),
      ]);
      const byScorer = new Map<TurnScorer, ScorerResult>([
        ...kept,
        ...again.known.map((scorer, index) => [scorer, known[index]!] as const),
        ...again.asked.map((scorer, index) => [scorer, asked[index]!] as const),
      ]);
      const outcomes = all.map((scorer) => byScorer.get(scorer)!);
      const entries = Object.entries(merge((scorer) => byScorer.get(scorer)!.scores));
      const { generatedMetadata = {}, ...fields }: NonNullable<ScorerResult["fields"]> = Object
        .assign({}, ...outcomes.map(({ fields }) => fields));
      const score_methods = partOf(entries, "method");
      const judge_cost = meter?.cost();
      return {
        generatedMetadata,
        ...conclude(partOf(entries, "value"), {
          missing: partOf(entries, "reason"),
          isNearnessToName: outcomes.some(({ isNearnessToName }) => isNearnessToName),
        }),
        ...(Object.keys(score_methods).length > 0 && { score_methods }),
        ...fields,
        ...(judge_cost !== undefined && { judge_cost }),
      };
    },

    // A score must never rise because the endpoint got worse: a failed turn counts 0 in every score
    // that it was planned to have, and always in `overall`.
    async failed(interaction) {
      const learned = await Promise.all(
        all.map(async (scorer) =>
          [scorer, await (scorer.learnPlan ?? scorer.plan)(interaction)] as const
        ),
      );
      const plans = new Map(learned);
      const plan = merge((scorer) => plans.get(scorer)!);
      return {
        ...Object.fromEntries(
          Object.entries(plan).map(([name, applies]) => [name, applies ? 0 : null]),
        ),
        overall: 0,
      };
    },

    unscored(interaction, reason) {
      const plan = Object.entries(merge((scorer) => scorer.plan(interaction)));
      const scores = Object.fromEntries(plan.map(([name]) => [name, null]));
      const missing = plan.filter(([, applies]) => applies).map(([name]) => [name, reason]);
      return conclude(scores, { missing: Object.fromEntries(missing) });
    },
  };
}

const UNKNOWN_CIRCUMSTANCES: ReplyCircumstances = {
  latencyMs: 0,
  firstTokenMs: undefined,
  usage: null,
  toolCalls: undefined,
  conversation: () => [],
  spentBefore: () => ({ latencyMs: 0, outputTokens: 0 }),
};

/** A missing score may be available next time, so it is not remembered. */
function isLasting({ isLasting, scores }: ScorerResult): boolean {
  return isLasting ?? Object.values(scores).every(({ reason }) => reason === undefined);
}

/** One part of all scores that have it. */
function partOf<Part extends keyof ScoreEntry>(
  entries: [name: string, entry: ScoreEntry][],
  part: Part,
) {
  const found = entries.map(([name, entry]) => [name, entry[part]] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as Record<string, Exclude<ScoreEntry[Part], undefined>>;
}

/** What the scorers may know of a batch. */
function planBatch(
  { test_batch: scenarios, rubric, judge_votes: votes = 1, scored_by, scorers, rescored }:
    AssessedBatch,
  { ports, signal, onLabelFailure }: AssessorOptions,
): ScoredBatch {
  const current = describeScoring(ports);
  const planned = ScoredBy.safeParse(scored_by).data ?? current;
  // Who scores again names a judge; any other run is judged by the one that is configured.
  const named = rescored && planned.judge !== null && planned.judge !== current.judge
    ? ports.judgeNamed?.(planned.judge)
    : undefined;
  const explain = (part: keyof ScoredBy) =>
    planned[part] === current[part] || (part === "judge" && named)
      ? undefined
      : changed(planned[part], current[part]);
  return {
    scenarios,
    rubric,
    votes,
    pairs: ports.pairs,
    checks: ports.checks.forRun(),
    semantics: createBatchSemantics(scenarios, ports),
    plansJudge: planned.judge !== null,
    judge: planned.judge === current.judge ? ports.judge : named,
    // In runs stored before this field existed, `scorers` may be a field of the caller.
    webhooks: WebhookScorers.safeParse(scorers).data ?? [],
    askScorer: ports.askScorer,
    rescored: new Set(rescored),
    changed: { judge: explain("judge"), embeddings: explain("embeddings") },
    signal,
    onLabelFailure,
  };
}

function changed(planned: string | null, current: string | null): string {
  return `the run was planned with ${planned ?? "none"}, and now ${
    current ?? "none"
  } is configured`;
}

/**
 * Starts the last scorers of the table first: they wait for other services, while the first ones
 * block this thread.
 */
async function scoreWith<Input>(
  some: { score(input: Input): ScorerResult | Promise<ScorerResult> }[],
  input: Input,
): Promise<Outcomes> {
  const scored = some.toReversed().map(async (scorer) => await scorer.score(input));
  return (await Promise.all(scored)).reverse();
}

/** The same assessor, with a span for each reply and an event for each of its scores. */
export function observeAssessor(assessor: Assessor, within: typeof withSpan): Assessor {
  return {
    ...assessor,
    assess: (interaction, ...reply) =>
      within(
        { name: "evaluate", attributes: { "assay.interaction.id": interaction.id } },
        async (span) => {
          const assessment = await assessor.assess(interaction, ...reply);
          for (const [name, value] of Object.entries(assessment.scores)) {
            if (typeof value !== "number") continue;
            span.addEvent("gen_ai.evaluation.result", {
              "gen_ai.evaluation.name": name,
              "gen_ai.evaluation.score.value": value,
            });
          }
          return assessment;
        },
      ),
  };
}
