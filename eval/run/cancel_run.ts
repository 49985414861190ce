import type { RunRecord } from "../store/run_record.ts";
import type { RunStore } from "../store/store.ts";
import type { RunManager } from "./manager.ts";

/** Ends a run that has not ended; one that has stays as it is. Its finished turns stay stored. */
export async function cancelRun(
  run: Pick<RunRecord, "id" | "status">,
  { store, runs }: { store: RunStore; runs: RunManager },
): Promise<void> {
  const active = runs.active(run.id);
  const detail = "cancelled by a caller";
  if (active) {
    active.cancel(detail);
    await active.ended;
  } else if (run.status === "running" || run.status === "interrupted") {
    runs.dropWaiting(run.id);
    await store.setStatus(run.id, {
      status: "cancelled",
      detail,
      tally: "count",
      from: ["running", "interrupted"],
    });
  }
}
