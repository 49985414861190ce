import { overloaded } from "../../../shared/http/server/admission.ts";
import { describeScoring } from "../../assess/scoring_ports.ts";
import {
  removeQuery,
  type RunStatus,
  type StoredRun,
  type Tally,
} from "../../store/runs/run_record.ts";
import { endedMeanwhile } from "../../store/runs/require_run.ts";
import type { NewRun } from "../../store/store.ts";
import { createExecution, createSaver, type ExecutionPorts } from "../execute/execution.ts";
import { createStoredParts, readFinished } from "../execute/finished_turns.ts";
import { type ActiveRun, createActiveRun, type RunEnd } from "./active_run.ts";
import type { RunManager } from "./manager.ts";
import type { Finished } from "./run_ports.ts";
import { createSharedRuns } from "./shared_runs.ts";
import { requireUsable } from "./usable_request.ts";
import { createResumption } from "./resumption.ts";

/** Everything a run needs from outside. */
interface RunManagerDeps extends ExecutionPorts {
  /** `EVAL_MAX_RUNS`: at most this many run at once, more are refused. No limit if unset. */
  maxRuns?: number;
  /** The first wait before a run continues that a storage fault has stopped; it doubles. */
  recoveryDelayMs?: number;
}

const NOTHING_YET: Tally = { done: 0, failed: 0, missing: 0, scored: 0, mean: null, lastSeq: 0 };

/**
 * A run's life in this process:
 *
 *     create ──► launch ──► execute ──► settle
 *                  ▲                      │
 *     queue ──► resume                    │ after a storage fault, with a delay
 *       ▲─────────────────────────────────┘
 *
 * The queue (`resumption.ts`) has the runs that an earlier process left unfinished, those that a
 * storage fault has stopped, and those that other processes offer. They are resumed as
 * `EVAL_MAX_RUNS` allows.
 */
export function createRunManager(deps: RunManagerDeps): RunManager {
  const { store, log, scoring, sharing, maxRuns = Infinity } = deps;
  const runs = new Map<string, ActiveRun>();
  /** Endpoints with their queries, which are not stored, of runs that have not ended. */
  const addresses = new Map<string, string>();
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const saver = createSaver(store);
  const execute = createExecution(deps, { saver, addresses, isStopping });
  const shared = sharing && createSharedRuns({
    sharing,
    store,
    runs,
    knowsQuery: (id) => addresses.has(id),
    join: (ids) => resumption.enqueue(ids),
  });
  /** Runs that are being started. They count as running. */
  let starting = 0;
  let isListed = false; // only once: later, runs of this process are stored as running, too

  const room = () => maxRuns - runs.size - starting;

  function whileStarting<T>(count: number, work: () => Promise<T>): Promise<T> {
    starting += count;
    return work().finally(() => starting -= count);
  }

  const resumption = createResumption({
    store,
    log,
    saver,
    runs,
    isStopping,
    room,
    whileStarting: (work) => whileStarting(1, work),
    resume,
    delayMs: deps.recoveryDelayMs,
  });
  const { queue, resumeQueued } = resumption;

  /** Starts `count` runs, or throws 503. If starting fails, queued runs may start instead. */
  async function begin<T>(count: number, work: () => Promise<T>): Promise<T> {
    if (room() < count) {
      throw overloaded({ what: "runs", max: maxRuns, setting: "EVAL_MAX_RUNS" }, count);
    }
    return await whileStarting(count, work).catch((error) => {
      resumeQueued();
      throw error;
    });
  }

  const isReserved = (endpoint: string) =>
    shared?.isExclusive({ hasQuery: removeQuery(endpoint) !== endpoint }) ?? false;

  /** As it is to be stored. A retry keeps its parent's scoring: it has turns of both runs. */
  function complete<R extends NewRun>(run: R): R {
    const completed = { ...run, isReserved: isReserved(run.request.endpoint) };
    if (run.parentId !== undefined) return completed;
    return { ...completed, request: { ...run.request, scored_by: describeScoring(scoring) } };
  }

  /** Starts a run that was just stored. */
  async function launchNew({ request, parentId }: NewRun, run: StoredRun): Promise<ActiveRun> {
    if (run.queryRemoved) addresses.set(run.id, request.endpoint);
    if (isReserved(request.endpoint)) shared?.reserve(run.id);
    shared?.watch();
    if (parentId !== undefined) return await requireResumed(run);
    const finished = sharing && createStoredParts(store, run);
    return launch(run, { tally: NOTHING_YET, finished });
  }

  function launch(
    run: StoredRun,
    { tally, finished }: { tally: Tally; finished: Finished | undefined },
  ): ActiveRun {
    const active = createActiveRun(run, { tally, now: () => performance.now() });
    runs.set(run.id, active);
    resumption.forgetFault(run.id);
    execute(active, finished).then((end) => settle(active, end));
    return active;
  }

  function settle(active: ActiveRun, end: RunEnd): void {
    const { id } = active.run;
    runs.delete(id);
    shared?.release(id);
    if (end.storageFault !== undefined) resumption.resumeLater(id, end.storageFault);
    if (end.status !== "interrupted" && end.status !== "running") addresses.delete(id);
    active.end(end);
    resumeQueued();
  }

  /**
   * Starts a run after its stored turns. `endpoint` is its address with the query, which is not
   * stored. `onResume` is called before the run continues; not if it cannot, because the query of its
   * endpoint is unknown. Resolves with `undefined` if the run was ended or deleted meanwhile.
   */
  async function resume(
    run: StoredRun,
    { endpoint, onResume }: { endpoint?: string; onResume?: (tally: Tally) => void } = {},
  ): Promise<ActiveRun | undefined> {
    if (endpoint !== undefined && run.queryRemoved) addresses.set(run.id, endpoint);
    await saver.saveKept(run.id);
    const [tally, finished] = await Promise.all([
      store.tally(run.id),
      sharing ? createStoredParts(store, run) : readFinished(store, run),
    ]);
    const reserves = shared?.isExclusive({ hasQuery: run.queryRemoved }) ?? false;
    if (await reopen(run, reserves) !== "running") return undefined;
    const knowsAddress = !run.queryRemoved || addresses.has(run.id);
    if (reserves && (sharing!.isExclusive || knowsAddress)) shared!.reserve(run.id);
    shared?.watch();
    const known = runs.get(run.id);
    if (known) return known;
    if (knowsAddress) onResume?.(tally);
    // As it is stored now: nothing of its earlier end is left.
    const running = { status: "running", detail: null, finishedAt: null, tally: null } as const;
    return launch({ ...run, ...running }, { tally, finished });
  }

  /** Stores a run as running, unless its status has changed; returns its status. */
  async function reopen(
    { id, status }: StoredRun,
    isReserved: boolean,
  ): Promise<RunStatus | undefined> {
    if (status === "running") return (await store.getRecord(id))?.status;
    return await store.setStatus(id, { status: "running", from: [status], isReserved });
  }

  async function requireResumed(
    run: StoredRun,
    options?: { endpoint?: string },
  ): Promise<ActiveRun> {
    const active = await resume(run, options);
    if (active) return active;
    throw endedMeanwhile(run.id);
  }

  async function queueUnfinished(): Promise<void> {
    if (isListed || sharing) return; // the watch finds those of a shared database
    isListed = true;
    queue.add(await store.unfinishedRuns());
  }

  return {
    active: (id) => runs.get(id),
    isRunning: ({ id, status }) =>
      runs.has(id) || queue.has(id) || (sharing !== undefined && status === "running"),
    news: (id) => sharing?.news(id),
    isShared: sharing !== undefined,
    waiting: queue.changed,
    dropWaiting: queue.drop,
    faultOf: resumption.faultOf,
    get count() {
      return runs.size;
    },
    get isStopping() {
      return isStopping();
    },

    async refresh(id) {
      const active = runs.get(id);
      if (active) await shared?.refresh(active);
    },

    async start(run) {
      const known = run.idempotency && await store.findByKey(run.idempotency);
      if (known) return known; // it starts nothing, so the limit does not matter
      return await begin(1, async () => {
        await requireUsable(run, deps);
        const created = await store.createRun(complete(run));
        if (created.outcome !== "created") return created;
        return { outcome: "started", active: await launchNew(run, created.run) };
      });
    },

    async startGroup(group) {
      const { idempotency } = group;
      const known = idempotency && await store.findByKey(idempotency);
      if (known) return known;
      return await begin(group.runs.length, async () => {
        await requireUsable(group.runs[0]!, deps); // all have the same batch
        const created = await store.createGroup({ ...group, runs: group.runs.map(complete) });
        if (created.outcome !== "created") return created;
        const active = created.runs.map((run, index) => launchNew(group.runs[index]!, run));
        return { outcome: "started", id: created.id, active: await Promise.all(active) };
      });
    },

    async resume(run, options) {
      return runs.get(run.id) ?? await begin(1, () => requireResumed(run, options));
    },

    queueUnfinished,

    async resumeUnfinished() {
      if (shared) return shared.watch();
      await queueUnfinished();
      await resumeQueued();
      if (queue.count > 0) {
        log.info(
          "unfinished runs are queued: the limit of running runs is reached (EVAL_MAX_RUNS)",
          { runs: queue.count },
        );
      }
    },

    async interruptUnfinished() {
      if (shared) return shared.watch(); // other processes may be working on them
      await queueUnfinished();
      for (let id = queue.take(); id !== undefined; id = queue.take()) {
        const tally = await store.tally(id);
        await store.setStatus(id, { status: "interrupted", tally });
        queue.drop(id);
        log.info("run interrupted", { run_id: id, done: tally.done });
      }
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
