import { untilAbort } from "../../shared/abort.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunStore } from "../store/store.ts";
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
export interface HeldRuns {
  /** A run that was cancelled because its client disconnected continues when the client is back. */
  reattach(id: string, endpoint: string): Promise<BegunRun>;
  /**
   * Holds a run until it ends; `active` is what ran in this process. Rejects at once if the client
   * leaves.
   */
  hold(begun: BegunRun, client: AbortSignal): Promise<{ end: RunEnd; active?: ActiveRun }>;
}

export function createHeldRuns(
  { store, runs }: { store: RunStore; runs: RunManager },
): HeldRuns {
  async function reattach(id: string, endpoint: string): Promise<BegunRun> {
    const known = runs.active(id);
    if (known && !known.signal.aborted) return { run: known.run, active: known, endpoint };
    await known?.ended; // a client that reconnects at once may find its run still being cancelled
    const run = (await store.getRun(id))!;
    const wasLost = run.status === "cancelled" && run.detail === CLIENT_LEFT;
    if (runs.waiting(id)) return { run, active: undefined, endpoint };
    const isUnfinished = run.status === "interrupted" || run.status === "running";
    const active = wasLost || isUnfinished ? await runs.resume(run, { endpoint }) : undefined;
    return { run, active, endpoint };
  }

  return {
    reattach,
    async hold({ run, active, endpoint }, client) {
      await untilAbort(Promise.resolve(runs.waiting(run.id)), client);
      const current = active ?? runs.active(run.id);
      current?.hold(client);
      let end: RunEnd = current ? await waitForEnd(current, client) : { status: run.status };
      // At another instance the client of the same run may have left; this one has not.
      while (runs.isShared && end.status === "cancelled" && !client.aborted) {
        const { active: again } = await reattach(run.id, endpoint);
        if (!again) break; // a caller cancelled it
        again.hold(client);
        end = await waitForEnd(again, client);
      }
      return { end, ...(current && { active: current }) };
    },
  };
}

/** Rejects at once if the client leaves; other clients may still be waiting for the run. */
function waitForEnd(active: ActiveRun, client: AbortSignal): Promise<RunEnd> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(client.reason);
    if (client.aborted) leave();
    client.addEventListener("abort", leave, { once: true });
    active.ended.then((end) => {
      client.removeEventListener("abort", leave);
      resolve(end);
    });
  });
}
