import { untilAbort } from "../../../shared/abort.ts";
import { AppError } from "../../../shared/errors.ts";
import { endedMeanwhile } from "../../store/runs/require_run.ts";
import type { RunRecord, StoredRun } from "../../store/runs/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import { type ActiveRun, CLIENT_LEFT, type RunEnd } from "./active_run.ts";
import type { RunManager } from "./manager.ts";

/** A run that a request has begun or found. `active` is missing if it has ended, or is queued. */
export interface BegunRun {
  run: StoredRun;
  active: ActiveRun | undefined;
  /** As the caller sent it, with its query. */
  endpoint: string;
}

/** Runs whose client waits for them: cancelled when it leaves, resumed when it comes back. */
export function createAttachedRuns(
  { store, runs }: { store: RunStore; runs: RunManager },
) {
  /** A run that was cancelled because its client disconnected continues when the client is back. */
  async function reattach(id: string, endpoint: string): Promise<BegunRun> {
    const known = runs.active(id);
    if (known && !known.signal.aborted) return { run: known.run, active: known, endpoint };
    await known?.ended; // a client that reconnects at once may find its run still being cancelled
    const run = await store.getRun(id);
    if (!run) throw endedMeanwhile(id);
    if (runs.waiting(id)) return { run, active: undefined, endpoint };
    const isUnfinished = run.status === "interrupted" || run.status === "running";
    const active = wasLost(run) || isUnfinished ? await runs.resume(run, { endpoint }) : undefined;
    return { run, active, endpoint };
  }

  /** The run in this process; waits while it is queued. */
  async function activeOf({ run: { id }, active }: BegunRun): Promise<ActiveRun | undefined> {
    await runs.waiting(id);
    return active ?? runs.active(id);
  }

  /**
   * Resumes the run if it was cancelled because a client of another process has left. If this process
   * is stopping, a run that another process has resumed is left to it.
   */
  async function resumeLost({ run: { id }, endpoint }: BegunRun): Promise<ActiveRun | undefined> {
    const now = runs.isShared ? await store.getRecord(id) : undefined;
    const isWanted = now && (wasLost(now) || (now.status === "running" && !runs.isStopping));
    return isWanted ? await activeOf(await reattach(id, endpoint)) : undefined;
  }

  async function keep(begun: BegunRun): Promise<void> {
    for (let active = await activeOf(begun); active; active = await resumeLost(begun)) {
      active.detach();
      if ((await active.ended).status !== "cancelled") return;
    }
  }

  /** The stored status: it may have changed since the run was read. */
  async function endOf({ id }: StoredRun): Promise<RunEnd> {
    return { status: (await store.getRecord(id))?.status ?? "cancelled" };
  }

  return {
    reattach,
    /**
     * Resumes and holds the run if it was cancelled because another client of it, at another process,
     * has left. True if the run continues: here, or in another process if this one is full. While this
     * process stops, it is false.
     */
    async regain(begun: BegunRun, client: AbortSignal): Promise<boolean> {
      if (client.aborted) return false;
      try {
        const active = await resumeLost(begun);
        active?.hold(client);
        return active !== undefined;
      } catch (error) {
        const isFull = error instanceof AppError && error.code === "overloaded";
        if (isFull && (await endOf(begun.run)).status === "running") return true;
        throw error;
      }
    },
    /** The run needs no client from now on, even if one leaves another process. */
    detach(begun: BegunRun): void {
      keep(begun).catch(() => {}); // the database failed: the run stays as it is
    },
    /**
     * Holds a run until it ends; `active` is what ran in this process. Rejects at once if the client
     * leaves.
     */
    async hold(
      { run, active, endpoint }: BegunRun,
      client: AbortSignal,
    ): Promise<{ end: RunEnd; active?: ActiveRun }> {
      await untilAbort(Promise.resolve(runs.waiting(run.id)), client);
      const current = active ?? runs.active(run.id);
      current?.hold(client);
      let end = current ? await untilAbort(current.ended, client) : await endOf(run);
      // A client of the same run may have left another process; this one is still here.
      while (runs.isShared && end.status === "cancelled" && !client.aborted) {
        const { active: again } = await reattach(run.id, endpoint);
        if (!again) break; // a caller cancelled it
        again.hold(client);
        end = await untilAbort(again.ended, client);
      }
      return { end, ...(current && { active: current }) };
    },
  };
}

function wasLost({ status, detail }: Pick<RunRecord, "status" | "detail">): boolean {
  return status === "cancelled" && detail === CLIENT_LEFT;
}
