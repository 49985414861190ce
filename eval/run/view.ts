import { z } from "zod";
import { RUN_STATUSES, type RunRecord, type Tally } from "../store/run_record.ts";
import { withoutQuery } from "../ask/endpoint_address.ts";
import { meanSoFar, RunProgress } from "./active_run.ts";
import type { RunReader } from "../store/store.ts";
import type { RunManager } from "./manager.ts";

export const RunStatus = z.enum(RUN_STATUSES).meta({ id: "RunStatus" });
export type RunStatus = z.infer<typeof RunStatus>;

/** A run as callers see it; times are ISO 8601. */
export const Run = z.looseObject({
  run_id: z.string(),
  parent_id: z.string().nullable(),
  status: RunStatus,
  detail: z.string().nullable(),
  test_name: z.string(),
  model_id: z.string(),
  /** Without its query. `null` if the replies existed before the run. */
  endpoint: z.string().nullable(),
  attempts: z.int(),
  /** `name@version`, if the run named a dataset. */
  dataset: z.string().optional(),
  tags: z.array(z.string()).optional().meta({ description: "Names that people gave it." }),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  progress: RunProgress,
  group_id: z.string().optional().meta({ description: "If the request named several models." }),
  name: z.string().optional().meta({ description: "What the group calls the model." }),
}).meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

export function viewRun(run: RunRecord, progress: RunProgress): Run {
  return {
    run_id: run.id,
    parent_id: run.parentId,
    status: run.status,
    detail: run.detail,
    test_name: run.testName,
    model_id: run.modelId,
    endpoint: run.endpoint && withoutQuery(run.endpoint),
    attempts: run.attempts,
    ...(run.datasetName !== null && { dataset: `${run.datasetName}@${run.batchDigest}` }),
    created_at: new Date(run.createdAt).toISOString(),
    finished_at: run.finishedAt === null ? null : new Date(run.finishedAt).toISOString(),
    progress,
    ...(run.group && { group_id: run.group.id, name: run.group.name }),
  };
}

/** The progress of a run that is not running: there is no estimate of its end. */
export function restingProgress(
  run: RunRecord,
  tally: Tally,
): RunProgress {
  const { done, failed, missing = 0 } = tally;
  const eta_ms = done === run.totalTurns ? 0 : null;
  const soFar = run.finishedAt === null && eta_ms === null ? meanSoFar(tally) : null;
  return { done, failed, missing, total: run.totalTurns, mean: soFar, eta_ms };
}

/** A run and its result as JSON text in pieces. */
export async function* withResult(
  view: Run,
  result: AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(view).slice(0, -1)},"result":`;
  yield* result;
  yield "}";
}

/** The present state of a run, which may be running in this or another process. */
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
    if (run.status === "running" && runs.isQueued(run.id)) {
      const detail = "the run is queued: the limit of running runs is reached (MAX_RUNS)";
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
