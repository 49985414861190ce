import type { EvaluateRequest } from "../../shared/schemas/evaluate_request.ts";
import { thresholdOf } from "../results/outcome.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunStore } from "../store/store.ts";
import { facetName } from "../store/turn_facets.ts";
import type { RunManager } from "./manager.ts";

/** What lists need of a run's request. */
export interface RunOutline {
  scenarios: { id: string; description: string }[];
  attempts: number;
  /** See `firstTurnOf`. */
  history: EvaluateRequest["history"];
  passThreshold: number;
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
    metadataKeys: new Set(
      request.test_batch.flatMap(({ interactions }) =>
        interactions.flatMap((turn) => Object.keys(turn.reference_metadata ?? {}).map(facetName))
      ),
    ),
  };
}

/** Reads outlines; one never changes, because a run's request does not. */
export function createRunOutlines(
  { store, runs }: { store: RunStore; runs: RunManager },
): (runId: string) => Promise<RunOutline | undefined> {
  const known = new Map<string, RunOutline>();
  return async (runId) => {
    const kept = known.get(runId);
    if (kept) {
      // Deleted runs are not found, whatever is kept of them.
      return await store.getRecord(runId) ? kept : void known.delete(runId);
    }
    const run = runs.active(runId)?.run ?? await store.getRun(runId);
    if (!run) return undefined;
    const outline = outlineOf(run);
    known.set(runId, outline);
    if (known.size > KEPT) known.delete(known.keys().next().value!);
    return outline;
  };
}
