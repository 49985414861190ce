import { type AppError, conflict } from "../../shared/service/errors.ts";
import type { EndpointPolicy } from "../ask/policy.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import type { RunRecord } from "../store/run_record.ts";
import type { IdempotencyKey, RunStore } from "../store/store.ts";
import type { RunManager, StartedRun } from "./manager.ts";

// A retry is a run that asks again what failed in another.

/** Whether a turn of a run failed, lacks a score or was never asked. */
export async function isRetryWanted(
  { id, totalTurns }: RunRecord,
  store: Pick<RunStore, "tally">,
): Promise<boolean> {
  const { done, failed, missing } = await store.tally(id);
  return failed > 0 || missing > 0 || done < totalTurns;
}

/** Throws 409 if the run is running, 403 if its endpoint is not allowed. */
export function requireRetriable(
  run: RunRecord,
  { runs, endpoints }: {
    runs: RunManager;
    endpoints: Pick<EndpointPolicy, "requireAllowed">;
  },
): void {
  if (runs.isRunning(run)) throw cannotRetry(run, "it is running");
  if (run.endpoint !== null) endpoints.requireAllowed(run.endpoint);
}

/** Starts the retry of a run. */
export async function startRetry(
  { id: parentId, testName }: RunRecord,
  { store, runs, idempotency, budget }: {
    store: RunStore;
    runs: RunManager;
    idempotency: IdempotencyKey | undefined;
    /** Instead of that of the run. */
    budget: EvaluateRequest["budget"];
  },
): Promise<StartedRun> {
  const { request } = (await store.getRun(parentId))!;
  if (budget) request.budget = budget;
  return await runs.start({ request, testName, parentId, idempotency });
}

/** 409 for a run that cannot be retried. */
export function cannotRetry({ id }: Pick<RunRecord, "id">, reason: string): AppError {
  return conflict(`cannot retry run ${id}: ${reason}`);
}
