import { countTurns, planOf } from "../../schemas/conversations.ts";
import type { StoredRun } from "../../store/runs/run_record.ts";

/** The turns of a complete run that count: without those that are asked a second way. */
export function countedTurns({ request, totalTurns }: StoredRun): number {
  if (request.history !== "both") return totalTurns;
  return countTurns({ ...planOf(request), history: "generated" });
}
