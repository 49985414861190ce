import type { StoredRun, Tally } from "../../store/runs/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import { type ActiveRun, createActiveRun, type RunEnd } from "./active_run.ts";
import type { ExecuteRun } from "../execute/execution.ts";
import { createStoredParts, readFinished } from "../execute/finished_turns.ts";
import type { Finished } from "./run_ports.ts";
import type { Saver } from "../execute/saver.ts";
import type { SharedRuns } from "./shared_runs.ts";
import type { Sharing } from "./sharing.ts";

/** Makes stored runs active. It counts and limits nothing. */
export interface Launching {
  /** Starts a run that was just stored. */
  launchNew(run: StoredRun): ActiveRun;
  /**
   * Starts a run after its stored turns. `endpoint` is its address with the query, which is not
   * stored. `onResume` is called before the run goes on; not if it cannot, because the query of its
   * endpoint is unknown. Resolves with `undefined` if the run was ended or deleted meanwhile.
   */
  resume(run: StoredRun, options?: ResumeOptions): Promise<ActiveRun | undefined>;
}

interface ResumeOptions {
  endpoint?: string;
  onResume?: (tally: Tally) => void;
}

interface LaunchingOptions {
  store: RunStore;
  sharing: Sharing | undefined;
  shared: SharedRuns;
  saver: Saver;
  /** The running runs; a launched one is among them until it ends. */
  runs: Map<string, ActiveRun>;
  /** Endpoints with their queries, of runs that have not ended. */
  addresses: Map<string, string>;
  execute: ExecuteRun;
  onLaunch: (id: string) => void;
  /** Called once the end of a run is known to all who wait for it. */
  onEnd: () => void;
}

const NOTHING_YET: Tally = {
  done: 0,
  failed: 0,
  missing: 0,
  scored: 0,
  mean: null,
  lastSeq: 0,
};

export function createLaunching(
  { store, sharing, shared, saver, runs, addresses, execute, onLaunch, onEnd }: LaunchingOptions,
): Launching {
  function launch(run: StoredRun, { tally, finished }: { tally: Tally; finished?: Finished }) {
    const active = createActiveRun(run, { tally, now: () => performance.now() });
    runs.set(run.id, active);
    onLaunch(run.id);
    execute(active, finished).then((end) => settle(active, end));
    return active;
  }

  function settle(active: ActiveRun, end: RunEnd): void {
    const { id } = active.run;
    runs.delete(id);
    shared.release(id);
    if (end.status !== "interrupted" && end.status !== "running") addresses.delete(id);
    active.end(end);
    onEnd();
  }

  const readStored = (run: StoredRun): Finished | Promise<Finished> =>
    sharing ? createStoredParts(store, run) : readFinished(store, run);

  /** Stores a run as running, unless its status has changed; returns its status. */
  async function reopen({ id, status }: StoredRun, { isReserved }: { isReserved: boolean }) {
    if (status === "running") return (await store.getRecord(id))?.status;
    return await store.setStatus(id, { status: "running", from: [status], isReserved });
  }

  return {
    launchNew: (run) =>
      launch(run, {
        tally: NOTHING_YET,
        ...(sharing && { finished: createStoredParts(store, run) }),
      }),

    async resume(run, { endpoint, onResume } = {}) {
      if (endpoint !== undefined && run.queryRemoved) addresses.set(run.id, endpoint);
      await saver.saveKept(run.id);
      const [tally, finished] = await Promise.all([store.tally(run.id), readStored(run)]);
      const isReserved = shared.isExclusive({ hasQuery: run.queryRemoved });
      if (await reopen(run, { isReserved }) !== "running") return undefined;
      const knowsAddress = !run.queryRemoved || addresses.has(run.id);
      if (isReserved && (sharing!.isExclusive || knowsAddress)) shared.reserve(run.id);
      shared.watch();
      const known = runs.get(run.id);
      if (known) return known;
      if (knowsAddress) onResume?.(tally);
      return launch(asRunning(run), { tally, finished });
    },
  };
}

/** A resumed run as it is stored: nothing of its earlier end is left. */
function asRunning(run: StoredRun): StoredRun {
  return { ...run, status: "running", detail: null, finishedAt: null, tally: null };
}
