import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";
import { checksOf, hasChecks } from "../../assess/checks/planned_checks.ts";
import { thresholdOf } from "../../results/outcome.ts";
import type { Scenario } from "../../schemas/scenario.ts";
import { facetName, type TurnRange } from "../../store/turns/turn_record.ts";
import { requireRun } from "../../store/runs/require_run.ts";
import type { StoredRun } from "../../store/runs/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import type { RunManager } from "./manager.ts";

/** What lists need of a run's request. */
export interface RunOutline {
  scenarios: { id: string; description: string }[];
  attempts: number;
  /** See `firstTurnOf`. */
  history: EvaluateRequest["history"];
  passThreshold: number;
  /** The turns that have a required check. */
  required: TurnRange[];
  /** Of all turns, as `facetName` has them. */
  metadataKeys: ReadonlySet<string>;
}

/** Runs whose outlines are kept: reading a request of megabytes for each page would take too long. */
const KEPT = 20;
const SHOWN_DESCRIPTION = 200;

export function outlineOf({ request, attempts }: StoredRun): RunOutline {
  return {
    scenarios: request.test_batch.map(({ id, description }) => ({
      id,
      description: description.slice(0, SHOWN_DESCRIPTION),
    })),
    attempts,
    history: request.history,
    passThreshold: thresholdOf(request),
    required: request.test_batch.flatMap(requiredTurns),
    metadataKeys: new Set(
      request.test_batch.flatMap(({ interactions }) =>
        interactions.flatMap((turn) => Object.keys(turn.reference_metadata ?? {}).map(facetName))
      ),
    ),
  };
}

function requiredTurns(batched: Scenario, scenario: number): TurnRange[] {
  const ranges: TurnRange[] = [];
  if (!hasChecks(batched)) return ranges;
  for (const turn of batched.interactions.keys()) {
    if (!checksOf(batched, turn).some(({ check }) => check.required)) continue;
    const last = ranges.at(-1);
    if (last?.last === turn - 1) last.last = turn;
    else ranges.push({ scenario, first: turn, last: turn });
  }
  return ranges;
}

/**
 * Reads outlines; one never changes, because a run's request does not. Throws 404 if no run has the
 * id.
 */
export function createRunOutlines(
  { store, runs }: { store: RunStore; runs: RunManager },
): (runId: string) => Promise<RunOutline> {
  const known = new Map<string, RunOutline>();
  return async (runId) => {
    const kept = known.get(runId);
    if (kept && await store.getRecord(runId)) return kept; // not of a run that was deleted
    known.delete(runId);
    const outline = outlineOf(runs.active(runId)?.run ?? await requireRun(store, runId));
    known.set(runId, outline);
    if (known.size > KEPT) known.delete(known.keys().next().value!);
    return outline;
  };
}
