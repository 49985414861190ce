import type { RunRecord } from "../../store/runs/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import type { RunManager } from "../manager/manager.ts";
import { restingProgress, type Run, viewRun } from "./view.ts";

/** How a run is at this moment, also one that is running, here or in another process. */
export function createRunViewer(
  { store, runs }: { store: RunReader; runs: RunManager },
): (run: RunRecord) => Promise<Run> {
  async function view(run: RunRecord): Promise<Run> {
    const active = runs.active(run.id);
    if (active) {
      await runs.refresh(run.id);
      return viewRun(run, active.progress());
    }
    if (run.status === "running" && runs.isShared) {
      return viewRun(run, restingProgress(run, await store.tally(run.id)));
    }
    if (run.status === "running" && runs.waiting(run.id)) {
      const detail = "the run is queued: the limit of running runs is reached (EVAL_MAX_RUNS)";
      return viewRun({ ...run, detail }, restingProgress(run, await store.tally(run.id)));
    }
    if (run.status !== "running") {
      return viewRun(run, restingProgress(run, run.tally ?? await store.tally(run.id)));
    }
    // It ended after it was read, or a process left it and could not store its end.
    const now = await store.getRecord(run.id) ?? run;
    if (now.status !== "running") return view(now);
    return view({ ...now, status: "interrupted", detail: runs.faultOf(run.id) });
  }
  return view;
}
