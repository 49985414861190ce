import type { EvaluateRequest } from "../schemas/evaluate_request.ts";
import {
  type AttemptResult,
  type EvaluateResponse,
  type ScenarioResult,
  ScoredBy,
} from "../schemas/evaluate_response.ts";
import type { InteractionResult } from "../schemas/interaction_result.ts";
import type { Scenario } from "../schemas/scenario.ts";
import type { PassRates, Scores, Statistic } from "../schemas/statistics.ts";
import { isBarred, mayBeBarred } from "../schemas/barred.ts";
import { createHistoryGap } from "./history_gap.ts";
import { createLabelCounter } from "./labels.ts";
import { runNotes } from "./notes.ts";
import { createTurnCounter } from "./turn_counts.ts";
import type { Tally } from "../store/runs/run_record.ts";
import { createYielder } from "../../shared/yielder.ts";
import {
  type Bars,
  countPasses,
  DEFAULT_PASS_THRESHOLD,
  type PassCounts,
  passRates,
  runPassRates,
} from "./passing.ts";
import { toScoredTurn } from "./score_statistic.ts";
import { aggregateAttempts, aggregateScores, createScenarioAggregate } from "./statistics.ts";

/** What an answer says before its results. The caller's own fields cannot replace ours. */
export function summariseRun(
  request: EvaluateRequest,
  { runId, testName, ...counts }:
    & { runId: string; testName: string }
    & Pick<Tally, "done" | "failed" | "missing">,
): Omit<EvaluateResponse, "results"> {
  // `results` is written after this heading: if it were kept, the body would have it twice.
  const { test_batch: _, attempts: __, protocol: ___, parameters: ____, results: _____, ...kept } =
    request;
  const heading = {
    message: describeCompletion(counts),
    run_id: runId,
    test_name: testName,
    notes: runNotes(request, {
      hasJudge: typeof ScoredBy.safeParse(request.scored_by).data?.judge === "string",
    }),
  };
  return { ...heading, ...kept, ...heading }; // first for the reader, and once more to win
}

/** Says what went wrong first: failed calls, and apart from them what could not be scored. */
export function describeCompletion(
  { done, failed, missing }: Pick<Tally, "done" | "failed" | "missing">,
): string {
  const faults = [
    ...(failed > 0 ? [`${failed} of ${done} interactions failed`] : []),
    ...(missing > 0 ? [`${missing} of ${done} interactions have no overall score`] : []),
  ];
  return faults.length === 0
    ? "Evaluation completed successfully"
    : `Evaluation completed: ${faults.join(", ")}`;
}

/** What averages are made of. The texts of a turn take no part in them. */
export type CountedTurn = Pick<
  InteractionResult,
  | "scores"
  | "error"
  | "missing_scores"
  | "overall_bounds"
  | "reference_metadata"
  | "generated_metadata"
  | "annotation"
  | "check_results"
  | "agreement"
  | "wrong_values"
>;

/** An attempt without its interactions. */
export type AttemptSummary = Omit<AttemptResult, "interactions">;

/**
 * One attempt; `attempt` counts from 0, its id in the answer from 1. Only with the `wanted` scores if
 * it is set.
 */
export function summariseAttempt(
  attempt: number,
  { interactions, tookMs }: { interactions: CountedTurn[]; tookMs: number },
  wanted?: readonly string[],
): AttemptSummary {
  const turns = interactions.map((result) => toScoredTurn(result, 0));
  return {
    attempt_id: attempt + 1,
    ...aggregateScores(turns, wanted),
    execution_time_ms: tookMs,
  };
}

/** What a scenario's averages need of an attempt. */
export interface CountedAttempt {
  statistics: AttemptSummary["statistics"];
  interactions: CountedTurn[];
}

/** What a scenario's answer says behind its attempts. */
type ScenarioSummary =
  & Pick<ScenarioResult, "average_scores" | "statistics" | "labels" | "history_gap">
  & PassRates;

/** A scenario that was read to its end. `question` is the same for scenarios that ask the same. */
export interface EndedScenario {
  summary: ScenarioSummary;
  passes: PassCounts;
  attempts: CountedAttempt[];
  question: string;
}

/** A scenario's averages are over the turns of all its attempts, which are its sample. */
export async function summariseScenario(
  attempts: CountedAttempt[],
  { passThreshold = DEFAULT_PASS_THRESHOLD, pause }: {
    passThreshold?: number | undefined;
    /** Awaited between steps of some milliseconds. */
    pause: () => Promise<void>;
  },
): Promise<Pick<EndedScenario, "summary" | "passes">> {
  const labels = createLabelCounter();
  labels.add(attempts);
  await pause();
  const turns = attempts.flatMap(({ interactions }, attempt) =>
    interactions.map((result) => toScoredTurn(result, attempt))
  );
  const overall = attempts.map((attempt) => ({
    mean: null,
    bounds: null,
    ...attempt.statistics.overall,
    ...barsOf([attempt]),
  }));
  const passes = countPasses(overall, passThreshold);
  const summary = {
    ...await aggregateAttempts(turns, pause),
    ...passRates(passes, passThreshold),
    labels: labels.report(),
  };
  return { summary, passes };
}

/** What keeps the turns of some attempts from passing. */
export function barsOf(attempts: Pick<CountedAttempt, "interactions">[]): Required<Bars> {
  const some = (is: (turn: CountedTurn) => boolean) =>
    attempts.some(({ interactions }) => interactions.some(is));
  return { isBarred: some(isBarred), mayBeBarred: some(mayBeBarred) };
}

/** What the caller wrote beside a scenario's id and interactions. */
export function ownFields({ id: _, interactions: __, ...own }: Scenario): Record<string, unknown> {
  return own;
}

/** What `results` says beside its scenarios; keeps of each only what that takes. */
export function createTotals() {
  const scenarios = createScenarioAggregate();
  const passes = new Map<string, PassCounts>();
  let threshold = DEFAULT_PASS_THRESHOLD;
  const labels = createLabelCounter();
  const counts = createTurnCounter();
  const gap = createHistoryGap();

  function add({ summary, passes: own, attempts, question }: EndedScenario): void {
    scenarios.add(summary.statistics, question);
    gap.add(summary.history_gap);
    threshold = summary.pass_threshold;
    const known = passes.get(question) ?? { attempts: 0, passed: 0, missing: 0 };
    passes.set(question, {
      attempts: known.attempts + own.attempts,
      passed: known.passed + own.passed,
      missing: known.missing + own.missing,
    });
    labels.add(attempts);
  }

  async function close(): Promise<Omit<EvaluateResponse["results"], "scenarios">> {
    const history_gap = gap.close();
    const average_scores: Scores = {};
    const statistics: Record<string, Statistic> = {};
    const pause = createYielder();
    for (const name of scenarios.names()) {
      statistics[name] = scenarios.describe(name);
      average_scores[name] = statistics[name].mean;
      await pause();
    }
    return {
      average_scores,
      statistics,
      ...runPassRates([...passes.values()], threshold),
      ...counts.report(),
      labels: labels.report(),
      ...(history_gap && { history_gap }),
    };
  }

  return {
    /** Before the scenario that the turn belongs to is added. */
    addTurn: counts.add,
    add,
    /** The whole run's averages are means over its scenarios: each question counts alike. */
    close,
  };
}
