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

/** Runs whose client waits for them: they are cancelled when it leaves, and continue with it. */
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

  /** What runs in this process, once its turn has come. */
  async function activeOf({ run: { id }, active }: BegunRun): Promise<ActiveRun | undefined> {
    await runs.waiting(id);
    return active ?? runs.active(id);
  }

  /**
   * If it was cancelled because a client has left another process; one may have resumed it, and goes
   * on while this one stops.
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

  /** As it is stored now: it may have been queued, or not yet resumed, when it was read. */
  async function endOf({ id }: StoredRun): Promise<RunEnd> {
    return { status: (await store.getRecord(id))?.status ?? "cancelled" };
  }

  return {
    reattach,
    /**
     * Resumes and holds a run that was cancelled because a client of the same run has left another
     * process, while this one has not. False if there is no such run. True without holding it if
     * another process has resumed it, and this one may run no more.
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
    /** The run needs no client from now on, also if one leaves another process. */
    detach(begun: BegunRun): void {
      keep(begun).catch(() => {}); // without the database it stays as it is
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
      // At another instance the client of the same run may have left; this one has not.
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
