import {
  type AttemptResult,
  type EvaluateRequest,
  type EvaluateResponse,
  type InteractionResult,
  type PassRates,
  type Scenario,
  type ScenarioResult,
  ScoredBy,
} from "../shared/schemas/evaluate.ts";
import { createLabelCounter } from "./labels.ts";
import { runNotes } from "./run_notes.ts";
import type { Tally } from "./store/store.ts";
import { passRates, runPassRates } from "./pass_rates.ts";
import { DEFAULT_PASS_THRESHOLD } from "./passing.ts";
import {
  aggregateScenarios,
  aggregateScores,
  type ScenarioScores,
  toScoredTurn,
} from "./statistics.ts";

/** A finished turn, and how long it took from its question to its scores. */
export interface TimedTurn {
  result: InteractionResult;
  tookMs: number;
}

/** What an answer says before its results. The caller's own fields cannot replace ours. */
export function summariseRun(
  request: EvaluateRequest,
  { runId, ...counts }: { runId: string } & Pick<Tally, "done" | "failed" | "missing">,
): Omit<EvaluateResponse, "results"> {
  // `results` is written behind this heading: kept, it would stand in the body twice.
  const { test_batch: _, attempts: __, protocol: ___, parameters: ____, results: _____, ...kept } =
    request;
  const heading = {
    message: describeCompletion(counts),
    run_id: runId,
    test_name: nameTest(request),
    notes: runNotes(request, {
      hasJudge: typeof ScoredBy.safeParse(request.scored_by).data?.judge === "string",
    }),
  };
  return { ...heading, ...kept, ...heading }; // first for the reader, and once more to win
}

/** Says what went wrong first: failed calls, and apart from them what could not be scored. */
function describeCompletion(
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

/** A test without a name is called after its batch. */
export function nameTest({ test_name, test_batch }: EvaluateRequest): string {
  return test_name ?? test_batch[0]!.id;
}

/** One attempt; `attempt` counts from 0, its id in the answer from 1. */
export function summariseAttempt(attempt: number, turns: TimedTurn[]): AttemptResult {
  const interactions = turns.map(({ result }) => result);
  return {
    attempt_id: attempt + 1,
    interactions,
    ...aggregateScores(interactions.map((result, turn) => toScoredTurn(result, turn))),
    execution_time_ms: turns.reduce((sum, { tookMs }) => sum + tookMs, 0),
  };
}

/** A scenario's averages are taken over the turns of all its attempts, an attempt's as a cluster. */
export function summariseScenario(
  scenario: Scenario,
  attempts: AttemptResult[],
  passThreshold = DEFAULT_PASS_THRESHOLD,
): ScenarioResult {
  const { id, interactions: _, ...kept } = scenario;
  const labels = createLabelCounter();
  labels.add(attempts);
  const turns = attempts.flatMap(({ interactions }, attempt) =>
    interactions.map((result) => toScoredTurn(result, attempt))
  );
  const overall = attempts.map((attempt) => attempt.statistics.overall);
  return {
    ...kept,
    scenario_id: id,
    attempts,
    ...aggregateScores(turns),
    ...passRates(overall, passThreshold),
    labels: labels.report(),
  };
}

/** What `results` says beside its scenarios; keeps of each only what that takes. */
export function createTotals() {
  const scenarios: ScenarioScores[] = [];
  const passes: PassRates[] = [];
  const labels = createLabelCounter();
  return {
    add(scenario: ScenarioResult): void {
      const { statistics, attempts } = scenario;
      const { pass_threshold, pass_rate, pass_at_k, pass_hat_k, undecided } = scenario;
      scenarios.push(statistics);
      passes.push({ pass_threshold, pass_rate, pass_at_k, pass_hat_k, undecided });
      labels.add(attempts);
    },
    /** The whole run's averages are means over its scenarios: each counts alike. */
    close: (): Omit<EvaluateResponse["results"], "scenarios"> => ({
      ...aggregateScenarios(scenarios),
      ...runPassRates(passes),
      labels: labels.report(),
    }),
  };
}
