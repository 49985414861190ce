import { endedMeanwhile } from "../../store/runs/require_run.ts";
import type { StoredRun } from "../../store/runs/run_record.ts";
import type { NewGroup, NewRun } from "../../store/store.ts";
import type { ActiveRun } from "./active_run.ts";
import { createExecution, type ExecutionPorts } from "../execute/execution.ts";
import { createLaunching } from "./launching.ts";
import type { RunManager, StartedGroup, StartedRun } from "./manager.ts";
import { createNewRuns } from "./new_runs.ts";
import { createResumption } from "./resumption/resumption.ts";
import { createRunLimit } from "./run_limit.ts";
import { createSaver } from "../execute/saver.ts";
import { createSharedRuns } from "./shared_runs.ts";

/** Everything a run needs from outside. */
interface RunManagerDeps extends ExecutionPorts {
  /** `EVAL_MAX_RUNS`: at most this many run at once, more are refused. No limit if unset. */
  maxRuns?: number;
  /** The wait before a run is resumed that a storage fault has interrupted. */
  recoveryDelayMs?: number;
}

export function createRunManager(deps: RunManagerDeps): RunManager {
  const { store, log, scoring, sharing, maxRuns = Infinity } = deps;
  const runs = new Map<string, ActiveRun>();
  const faults = new Map<string, string>();
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  /** Endpoints with their queries, of runs that have not ended. */
  const addresses = new Map<string, string>();
  const saver = createSaver(store);
  const limit = createRunLimit({ max: maxRuns, running: () => runs.size });
  const resumption = createResumption({
    store,
    log,
    limit,
    saver,
    active: (id) => runs.get(id),
    resume: (run, options) => launching.resume(run, options),
    isStopping,
    delayMs: deps.recoveryDelayMs,
  });
  const execute = createExecution(deps, {
    saver,
    addresses,
    isStopping,
    onStorageFault(id, detail) {
      faults.set(id, detail);
      resumption.resumeLater(id);
    },
  });
  const shared = createSharedRuns({
    sharing,
    store,
    runs,
    knowsQuery: (id) => addresses.has(id),
    join: resumption.join,
  });
  const newRuns = createNewRuns({ store, scoring, endpoints: deps.endpoints, shared, addresses });
  const launching = createLaunching({
    store,
    sharing,
    shared,
    saver,
    runs,
    addresses,
    execute,
    onLaunch: (id) => void faults.delete(id),
    onEnd: () => void resumption.resumeNext(),
  });

  /** Starts a run within the limit, or several. If it does not start, the next queued one may. */
  async function beginWithinLimit<T>(begin: () => Promise<T>, runs = 1): Promise<T> {
    limit.requireRoom(runs);
    try {
      return await limit.count(begin, runs);
    } catch (error) {
      resumption.resumeNext();
      throw error;
    }
  }

  async function create(run: NewRun): Promise<StartedRun> {
    const created = await newRuns.create(run);
    if (created.outcome !== "created") return created;
    const active = run.parentId === undefined
      ? launching.launchNew(created.run)
      : await requireResumed(created.run);
    return { outcome: "started", active };
  }

  async function createGroup(group: NewGroup): Promise<StartedGroup> {
    const created = await newRuns.createGroup(group);
    if (created.outcome !== "created") return created;
    // All at once, so that none begins a conversation before the others are there.
    return { outcome: "started", id: created.id, active: created.runs.map(launching.launchNew) };
  }

  async function requireResumed(
    run: StoredRun,
    options?: { endpoint?: string },
  ): Promise<ActiveRun> {
    const active = await launching.resume(run, options);
    if (active) return active;
    throw endedMeanwhile(run.id);
  }

  return {
    active: (id) => runs.get(id),
    isRunning: ({ id, status }) =>
      runs.has(id) || resumption.isQueued(id) || (sharing !== undefined && status === "running"),
    news: (id) => sharing?.news(id),
    isShared: sharing !== undefined,
    waiting: resumption.waiting,
    dropWaiting: resumption.drop,
    faultOf: (id) => faults.get(id) ?? null,
    get count() {
      return runs.size;
    },
    get isStopping() {
      return isStopping();
    },

    async refresh(id) {
      const active = runs.get(id);
      if (active) await shared.refresh(active);
    },

    async start(run) {
      const known = run.idempotency && await store.findByKey(run.idempotency);
      if (known) return known; // it starts nothing, so the limit does not matter
      return await beginWithinLimit(() => create(run));
    },

    async startGroup(group) {
      const known = group.idempotency && await store.findByKey(group.idempotency);
      return known ?? await beginWithinLimit(() => createGroup(group), group.runs.length);
    },

    async resume(run, options) {
      const known = runs.get(run.id);
      if (known) return known;
      return await beginWithinLimit(() => requireResumed(run, options));
    },

    async queueUnfinished() {
      if (sharing) return; // the watch finds them
      await resumption.queueUnfinished();
    },

    async resumeUnfinished() {
      if (sharing) return shared.watch();
      await resumption.resumeUnfinished();
    },

    async interruptUnfinished() {
      if (sharing) return shared.watch(); // other processes may be working on them
      await resumption.interruptUnfinished();
    },

    async stop() {
      stopping.abort();
      resumption.stop();
      await Promise.all([...runs.values()].map((active) => active.ended));
      sharing?.stop();
    },

    abandon() {
      for (const active of runs.values()) active.abandon();
    },
  };
}
