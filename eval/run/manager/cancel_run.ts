import type { RunRecord } from "../../store/runs/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import type { RunManager } from "./manager.ts";

/** Ends a run that has not ended; one that has stays as it is. Its finished turns stay stored. */
export async function cancelRun(
  run: Pick<RunRecord, "id" | "status">,
  { store, runs }: { store: RunStore; runs: RunManager },
): Promise<void> {
  const detail = "cancelled by a caller";
  /** False if the run is not running here. */
  async function end(): Promise<boolean> {
    const active = runs.active(run.id);
    active?.cancel(detail);
    await active?.ended;
    return active !== undefined;
  }

  if (await end()) return;
  if (run.status === "running" || run.status === "interrupted") {
    await store.setStatus(run.id, {
      status: "cancelled",
      detail,
      tally: "count",
      from: ["running", "interrupted"],
    });
    runs.dropWaiting(run.id); // after the status is stored, because waiting clients read it then
    await end(); // it may have been resumed meanwhile
  }
}
