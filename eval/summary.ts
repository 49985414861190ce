import type {
  AttemptResult,
  EvaluateRequest,
  EvaluateResponse,
  InteractionResult,
  Scenario,
  ScenarioResult,
  Scores,
} from "../shared/schemas/evaluate.ts";
import { averageScores } from "./statistics.ts";

/** A finished turn, and how long it took from its question to its scores. */
export interface TimedTurn {
  result: InteractionResult;
  tookMs: number;
}

/** What an answer says before its results. The caller's own fields cannot replace ours. */
export function summariseRun(
  request: EvaluateRequest,
  { runId, total, failed }: { runId: string; total: number; failed: number },
): Omit<EvaluateResponse, "results"> {
  const { test_batch: _, attempts: __, protocol: ___, parameters: ____, ...kept } = request;
  const heading = {
    message: failed === 0
      ? "Evaluation completed successfully"
      : `Evaluation completed: ${failed} of ${total} interactions failed`,
    run_id: runId,
    test_name: nameTest(request),
  };
  return { ...heading, ...kept, ...heading }; // first for the reader, and once more to win
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
    average_scores: averageScores(interactions.map(({ scores }) => scores)),
    execution_time_ms: turns.reduce((sum, { tookMs }) => sum + tookMs, 0),
  };
}

/** A scenario's averages are means over its attempts. */
export function summariseScenario(scenario: Scenario, attempts: AttemptResult[]): ScenarioResult {
  const { id, interactions: _, ...kept } = scenario;
  return {
    ...kept,
    scenario_id: id,
    attempts,
    average_scores: averageScores(attempts.map((attempt) => attempt.average_scores)),
  };
}

/** What `results` says beside its scenarios; keeps of each only what that takes. */
export function createTotals() {
  const averages: Scores[] = [];
  return {
    add: (scenario: ScenarioResult) => void averages.push(scenario.average_scores),
    /** The whole run's averages are means over its scenarios. */
    close: (): Omit<EvaluateResponse["results"], "scenarios"> => ({
      average_scores: averageScores(averages),
    }),
  };
}
