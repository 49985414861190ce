import type { InteractionResult } from "../schemas/interaction_result.ts";
import { isBarred } from "../schemas/barred.ts";
import { DEFAULT_PASS_THRESHOLD, HEADLINE, reaches } from "./passing.ts";
import type { IndexedTurn, TurnOutcome } from "../store/runs/list_query.ts";

/** The outcome of a turn for a threshold in [0, 1]. */
export function outcomeOf(
  turn: Pick<InteractionResult, "error" | "scores" | "missing_scores" | "check_results">,
  threshold: number,
): TurnOutcome {
  const overall = turn.scores[HEADLINE] ?? null;
  const missing = Boolean(turn.missing_scores?.[HEADLINE]);
  const failed = Boolean(turn.error);
  return decide({ failed, missing, overall, isBarred: isBarred(turn) }, threshold);
}

/** The same from an indexed turn. */
export function listedOutcomeOf(turn: IndexedTurn, threshold: number): TurnOutcome {
  return decide({ ...turn, isBarred: turn.facets.barred_by !== undefined }, threshold);
}

function decide(
  { failed, missing, overall, isBarred }:
    & Pick<IndexedTurn, "failed" | "missing" | "overall">
    & { isBarred: boolean },
  threshold: number,
): TurnOutcome {
  if (failed) return "failed";
  if (isBarred) return "below";
  if (overall === null) return missing ? "missing" : "unscored";
  return reaches(overall, threshold) ? "passed" : "below";
}

/** The threshold of a run's request, or the default. */
export function thresholdOf(request: Record<string, unknown>): number {
  const { pass_threshold } = request;
  return typeof pass_threshold === "number" ? pass_threshold : DEFAULT_PASS_THRESHOLD;
}
