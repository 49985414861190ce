import type { EvaluateRequest } from "./evaluate_request.ts";
import type { Scenario } from "./scenario.ts";

/** The fields of a request that decide its conversations. */
export interface RunPlan {
  scenarios: Pick<Scenario, "interactions">[];
  attempts: number;
  history?: EvaluateRequest["history"];
}

export function planOf(
  { test_batch: scenarios, attempts, history }: Pick<
    EvaluateRequest,
    "test_batch" | "attempts" | "history"
  >,
): RunPlan {
  return { scenarios, attempts, history };
}

/** The number of turns of an attempt at a scenario. */
export function turnsOf({ scenarios }: RunPlan, scenario: number): number {
  return scenarios[scenario]?.interactions.length ?? 0;
}

/** The number of places: one per scenario and attempt, even if that has no turns. */
export function countPlaces({ scenarios, attempts }: RunPlan): number {
  return scenarios.length * attempts;
}

/** The conversations with turns among the given places (all by default), in batch order. */
export function* listConversations(
  plan: RunPlan,
  { from = 0, until = countPlaces(plan) }: { from?: number; until?: number } = {},
): Generator<{ scenario: number; attempt: number; place: number }> {
  for (let place = from; place < until; place++) {
    const scenario = Math.floor(place / plan.attempts);
    if (turnsOf(plan, scenario) > 0) yield { scenario, attempt: place % plan.attempts, place };
  }
}

/** The turns of the complete run. */
export function countTurns(plan: RunPlan): number {
  const turns = plan.scenarios.reduce((sum, { interactions }) => sum + interactions.length, 0);
  return plan.attempts * turns;
}
