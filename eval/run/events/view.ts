import type { RunRecord, RunStatus, Tally } from "../../store/runs/run_record.ts";
import { withoutQuery } from "../../endpoint/endpoint_address.ts";
import { knownMean, type RunProgress } from "./run_progress.ts";

/** A run as callers see it; times are ISO 8601. */
export interface ViewedRun {
  run_id: string;
  parent_id: string | null;
  status: RunStatus;
  detail: string | null;
  test_name: string;
  model_id: string;
  /** Without its query, which may contain a secret of the caller. */
  endpoint: string;
  attempts: number;
  /** `name@version`, if the run named a dataset. */
  dataset?: string;
  created_at: string;
  finished_at: string | null;
  progress: RunProgress;
  /** Of a run whose request named several models: its group, and the model's name there. */
  group_id?: string;
  name?: string;
}

export function viewRun(run: RunRecord, progress: RunProgress): ViewedRun {
  return {
    run_id: run.id,
    parent_id: run.parentId,
    status: run.status,
    detail: run.detail,
    test_name: run.testName,
    model_id: run.modelId,
    endpoint: withoutQuery(run.endpoint),
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
  { done, failed, missing = 0, mean }: Tally,
): RunProgress {
  const eta_ms = done === run.totalTurns ? 0 : null;
  const known = knownMean({ missing, mean });
  return { done, failed, missing, total: run.totalTurns, mean: known, eta_ms };
}

/** A run and its result as JSON text in pieces. */
export async function* withResult(
  view: ViewedRun,
  result: AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(view).slice(0, -1)},"result":`;
  yield* result;
  yield "}";
}
