import { type AppError, conflict } from "../../../shared/errors.ts";
import type { EndpointPolicy } from "../../endpoint/policy.ts";
import type { RunRecord } from "../../store/runs/run_record.ts";
import type { IdempotencyKey, RunStore } from "../../store/store.ts";
import { QUERY_LOST } from "../execute/execution.ts";
import type { RunManager, StartedRun } from "./manager.ts";

export interface RetryDeps {
  store: RunStore;
  runs: RunManager;
  endpoints: Pick<EndpointPolicy, "requireAllowed">;
}

/** Starts runs that ask again what failed in others. */
export interface Retries {
  /** Whether a turn of a run failed, lacks a score or was never asked. */
  isWanted(run: RunRecord): Promise<boolean>;
  /** Throws 409 if the run is running or its address is not known, 403 if it is not allowed. */
  requirePossible(run: RunRecord): void;
  /** Starts the retry of a run, which needs no client. */
  start(parent: RunRecord, idempotency?: IdempotencyKey): Promise<StartedRun>;
}

export function createRetries({ store, runs, endpoints }: RetryDeps): Retries {
  return {
    async isWanted({ id, totalTurns }) {
      const { done, failed, missing } = await store.tally(id);
      return failed > 0 || missing > 0 || done < totalTurns;
    },

    requirePossible(run) {
      if (runs.isRunning(run)) throw cannotRetry(run, "it is running");
      if (run.queryRemoved) throw cannotRetry(run, QUERY_LOST);
      endpoints.requireAllowed(run.endpoint);
    },

    async start({ id: parentId, testName }, idempotency) {
      const { request } = (await store.getRun(parentId))!;
      const started = await runs.start({
        request,
        testName,
        parentId,
        ...(idempotency && { idempotency }),
      });
      if (started.outcome === "started") started.active.detach();
      return started;
    },
  };
}

/** 409 for a run that cannot be retried. */
export function cannotRetry({ id }: Pick<RunRecord, "id">, reason: string): AppError {
  return conflict(`cannot retry run ${id}: ${reason}`);
}
