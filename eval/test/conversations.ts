import type { EvaluateRequest } from "./evaluate_request.ts";
import type { InteractionResult } from "./interaction_result.ts";
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

/**
 * With `history: "both"` every attempt is run twice: attempt `n` with the generated replies as its
 * history, and attempt `attempts + n` with the references. The latter has no first turn, which has
 * no history.
 */
function isSecondWay({ attempts, history }: Omit<RunPlan, "scenarios">, attempt: number): boolean {
  return history === "both" && attempt >= attempts;
}

/** Whether the turns of an attempt are asked with the references as their history. */
export function hasReferenceHistory(
  plan: Omit<RunPlan, "scenarios">,
  attempt: number,
): boolean {
  return plan.history === "reference" || isSecondWay(plan, attempt);
}

/** The index of the first turn of an attempt. */
export function firstTurnOf(plan: Omit<RunPlan, "scenarios">, attempt: number): number {
  return isSecondWay(plan, attempt) ? 1 : 0;
}

/** The number of turns of an attempt at a scenario. */
export function turnsOf(
  plan: RunPlan,
  { scenario, attempt }: { scenario: number; attempt: number },
): number {
  const { interactions = [] } = plan.scenarios[scenario] ?? {};
  return Math.max(0, interactions.length - firstTurnOf(plan, attempt));
}

/** The attempts at each scenario, including those with the references as history. */
const attemptsAtEach = ({ attempts, history }: RunPlan) => attempts * (history === "both" ? 2 : 1);

/** The number of places: one per scenario and attempt, even if that has no turns. */
export function countPlaces(plan: RunPlan): number {
  return plan.scenarios.length * attemptsAtEach(plan);
}

/** The conversations with turns among the given places (all by default), in batch order. */
export function* listConversations(
  plan: RunPlan,
  { from = 0, until = countPlaces(plan) }: { from?: number; until?: number } = {},
): Generator<{ scenario: number; attempt: number; place: number }> {
  const each = attemptsAtEach(plan);
  for (let place = from; place < until; place++) {
    const position = { scenario: Math.floor(place / each), attempt: place % each };
    if (turnsOf(plan, position) > 0) yield { ...position, place };
  }
}

/** The turns of the complete run. */
export function countTurns(plan: RunPlan): number {
  return plan.scenarios.keys().reduce(
    (sum, scenario) => sum + countScenarioTurns(plan, scenario),
    0,
  );
}

/** The turns of one scenario in all attempts. */
function countScenarioTurns(plan: RunPlan, scenario: number): number {
  const { attempts } = plan;
  const first = turnsOf(plan, { scenario, attempt: 0 });
  const second = plan.history === "both" ? turnsOf(plan, { scenario, attempt: attempts }) : 0;
  return attempts * (first + second);
}

/** The history of the turns that are averaged; `generated` for `both`. */
export function countedHistory(
  { history }: Pick<EvaluateRequest, "history">,
): "generated" | "reference" {
  return history === "reference" ? "reference" : "generated";
}

/** Whether a turn of `history: "both"` had the references as history, so it is not averaged. */
export function isAskedTheSecondWay({ history_of }: Pick<InteractionResult, "history_of">) {
  return history_of === "reference";
}
