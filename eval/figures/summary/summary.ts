import type { EvaluateRequest } from "../../test/evaluate_request.ts";
import {
  type AttemptResult,
  type EvaluateResponse,
  type RunNote,
  type ScenarioResult,
  ScoredBy,
} from "../../test/evaluate_response.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Scenario } from "../../test/scenario.ts";
import type { PassRates } from "../../test/statistics.ts";
import { createLabelCounter } from "./labels.ts";
import { runNotes } from "./notes.ts";
import { createTurnCounter } from "./turn_counts.ts";
import type { Tally } from "../../store/run_record.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import {
  countPasses,
  DEFAULT_PASS_THRESHOLD,
  outcomeOf,
  type PassCounts,
  passRates,
  runPassRates,
  standingOf,
} from "../passing.ts";
import {
  aggregateAttempts,
  aggregateScores,
  createScenarioAggregate,
  describeEach,
  toScoredTurn,
} from "./statistics.ts";

/** The fields of an answer before its results. The caller's own fields cannot replace ours. */
export function summariseRun(
  request: EvaluateRequest,
  { runId, testName, ...counts }:
    & { runId: string; testName: string }
    & Pick<Tally, "done" | "failed" | "missing">,
): Omit<EvaluateResponse, "results"> {
  // `results` of the request is dropped, because the body has its own after this heading.
  const { test_batch: _, replies: __, attempts: ___, protocol: ____, parameters: _____, ...sent } =
    request;
  const { results: ______, rescored: _______, ...kept } = sent;
  const heading = {
    message: describeCompletion(counts),
    run_id: runId,
    test_name: testName,
    notes: notesOf(request),
    endpoint: request.endpoint ?? null,
  };
  return { ...heading, ...kept, ...heading }; // first for the order, last to override
}

export function notesOf(request: EvaluateRequest): RunNote[] {
  const hasJudge = typeof ScoredBy.safeParse(request.scored_by).data?.judge === "string";
  return runNotes(request, { hasJudge });
}

/** Lists failed calls and, separately, turns that could not be scored. */
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

/** The fields of a turn that averages need. */
export type CountedTurn = Pick<
  InteractionResult,
  | "scores"
  | "error"
  | "missing_scores"
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
 * One attempt; `attempt` counts from 0, its id in the answer from 1. Only with the `wanted` scores
 * if it is set.
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

/** The parts of an attempt that a scenario's averages need. */
export interface CountedAttempt {
  statistics: AttemptSummary["statistics"];
  interactions: CountedTurn[];
}

/** The fields of a scenario's answer after its attempts. */
type ScenarioSummary =
  & Pick<ScenarioResult, "average_scores" | "statistics" | "labels">
  & PassRates;

/** A scenario that was read completely; see `questionOf` for `question`. */
export interface EndedScenario {
  summary: ScenarioSummary;
  passes: PassCounts;
  attempts: CountedAttempt[];
  question: string;
}

/** A scenario's averages are over the turns of all its attempts. */
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
  const standings = attempts.map(({ interactions }) =>
    standingOf(interactions.map((turn) => outcomeOf(turn, passThreshold)))
  );
  const passes = countPasses(standings);
  const summary = {
    ...await aggregateAttempts(turns, pause),
    ...passRates(passes, passThreshold),
    labels: labels.report(),
  };
  return { summary, passes };
}

/** The fields of a scenario other than its id and interactions. */
export function ownFields({ id: _, interactions: __, ...own }: Scenario): Record<string, unknown> {
  return own;
}

/** The fields of `results` other than its scenarios, of which only sums are kept. */
export function createTotals() {
  const scenarios = createScenarioAggregate();
  const passes = new Map<string, PassCounts>();
  let threshold = DEFAULT_PASS_THRESHOLD;
  const labels = createLabelCounter();
  const counts = createTurnCounter();

  function add({ summary, passes: own, attempts, question }: EndedScenario): void {
    scenarios.add(summary.statistics, question);
    threshold = summary.pass_threshold;
    const known = passes.get(question) ?? { attempts: 0, passed: 0 };
    passes.set(question, {
      attempts: known.attempts + own.attempts,
      passed: known.passed + own.passed,
    });
    labels.add(attempts);
  }

  async function close(): Promise<Omit<EvaluateResponse["results"], "scenarios">> {
    return {
      ...await describeEach(scenarios.names(), scenarios.describe, createYielder()),
      ...runPassRates([...passes.values()], threshold),
      ...counts.report(),
      labels: labels.report(),
    };
  }

  return {
    /** Call it before the scenario of the turn is added. */
    addTurn: counts.add,
    add,
    /** Averages are means over scenarios: each question has the same weight. */
    close,
  };
}
