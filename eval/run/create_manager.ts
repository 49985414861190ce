import { untilAbort } from "../../shared/service/waiting.ts";
import { conflict } from "../../shared/service/errors.ts";
import { overloaded } from "../../shared/http/connection.ts";
import { describeScoring } from "../score/scoring_ports.ts";
import { endedMeanwhile } from "../store/require_run.ts";
import type { StoredRun, Tally } from "../store/run_record.ts";
import type { NewRun } from "../store/store.ts";
import { createExecution, createSaver, type ExecutionPorts } from "./execution.ts";
import { createStoredParts, readFinished } from "./execute/finished_turns.ts";
import { type ActiveRun, createActiveRun } from "./active_run.ts";
import type { RunManager } from "./manager.ts";
import type { Finished } from "./manager/run_ports.ts";
import { createSharedRuns } from "./manager/shared_runs.ts";
import { type LifeEvent, type LifeState, transition } from "./manager/transitions.ts";
import { requireUsable } from "./manager/usable_request.ts";

/** Everything a run needs from outside. */
interface RunManagerDeps extends ExecutionPorts {
  /** `MAX_RUNS`: at most this many run at once, more are refused. No limit if unset. */
  maxRuns?: number;
  /** The first wait before a run continues that a fault has stopped; it doubles. */
  recoveryDelayMs?: number;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;
const NOTHING_YET: Tally = { done: 0, failed: 0, missing: 0, scored: 0, mean: null, lastSeq: 0 };

type Timer = ReturnType<typeof setTimeout>;

/** A run from which `execute` can start. */
interface LoadedRun {
  run: StoredRun;
  tally: Tally;
  finished: Finished | undefined;
}

/** A run in this process, from when it is queued or started until it needs the process no more. */
interface Life {
  id: string;
  state: LifeState;
  /** By a caller who resumes it; else it is read. */
  given?: StoredRun | undefined;
  /** Set before it is active. */
  loaded?: LoadedRun;
  active?: ActiveRun | undefined;
  /** Why it waits; `null` while it does not. */
  fault: { error: unknown; detail: string; delayMs: number; timer?: Timer } | null;
  /** Resolves at the next event. */
  change: PromiseWithResolvers<void>;
}

/**
 * The runs of this process. `manager/transitions.ts` says what follows from what, and `effects` what is done
 * in each state. Queued are the runs that an earlier process left unfinished, those that a fault has
 * stopped, and those that other processes offer.
 */
export function createRunManager(deps: RunManagerDeps): RunManager {
  const { store, log, scoring, sharing, maxRuns = Infinity } = deps;
  const lives = new Map<string, Life>();
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const saver = createSaver(store);
  const execute = createExecution(deps, { saver, isStopping });
  const shared = sharing && createSharedRuns({
    sharing,
    store,
    active: (id) => lives.get(id)?.active,
    ids: () => [...lives.keys()],
    join: queue,
  });
  /** Runs that are being stored. They count as running. */
  let creating = 0;
  /** Queued runs that wait for `resumeUnfinished`. */
  const held = new Set<string>();
  let isListed = false; // only once: later, runs of this process are stored as running, too

  const isQueued = ({ state }: Life) => state === "queued";
  const waits = ({ state }: Life) => state === "queued" || state === "faulty";
  const room = () =>
    maxRuns - creating - lives.values().filter((life) => !waits(life)).toArray().length;

  const effects: Record<LifeState, (life: Life) => void> = {
    queued: () => {},
    starting: (life) => void load(life).then((event) => tell(life, event)),
    active(life) {
      const { run, ...parts } = life.loaded!;
      delete life.loaded;
      life.fault = null;
      const active = life.active = createActiveRun(run, { ...parts, now: () => performance.now() });
      execute(active, parts.finished).then((end) => {
        life.active = undefined;
        if (end.storageFault !== undefined) setFault(life, end.error, end.storageFault);
        tell(life, end.storageFault === undefined || isStopping() ? "ended" : "failed");
        active.end(end);
      });
    },
    faulty(life) {
      life.fault!.timer = setTimeout(() => tell(life, "due"), life.fault!.delayMs);
    },
    over(life) {
      lives.delete(life.id);
      saver.forget(life.id);
      sharing?.leave(life.id);
    },
  };

  /** What has happened to a run: sets its next state and does what belongs to that. */
  function tell(life: Life, event: LifeEvent): void {
    clearTimeout(life.fault?.timer);
    life.state = transition(life.state, event);
    effects[life.state](life);
    life.change.resolve();
    life.change = Promise.withResolvers();
    fillPlaces();
  }

  function fillPlaces(): void {
    while (!isStopping() && room() > 0) {
      const next = lives.values().find((life) => isQueued(life) && !held.has(life.id));
      if (!next) return;
      tell(next, "placed");
    }
  }

  function begin(id: string, state: LifeState, more: Pick<Life, "given" | "loaded"> = {}): Life {
    const life: Life = { id, state, fault: null, change: Promise.withResolvers(), ...more };
    lives.set(id, life);
    effects[state](life);
    return life;
  }

  function queue(id: string): void {
    if (isStopping() || lives.has(id)) return;
    begin(id, "queued");
    fillPlaces();
  }

  function setFault(life: Life, error: unknown, detail: string): void {
    const delayMs = life.fault
      ? Math.min(2 * life.fault.delayMs, LONGEST_DELAY_MS)
      : deps.recoveryDelayMs ?? FIRST_DELAY_MS;
    life.fault = { error, detail, delayMs };
  }

  /** Reads a run, to continue it after its stored turns. Never rejects. */
  async function load(life: Life): Promise<LifeEvent> {
    const { id } = life;
    try {
      const run = life.given ?? await store.getRun(id);
      if (!run) return "dropped";
      await saver.saveKept(id);
      const [tally, finished] = await Promise.all([
        store.tally(id),
        sharing ? createStoredParts(store, run) : readFinished(store, run),
      ]);
      // It may have been ended meanwhile.
      if ((await store.getRecord(id))?.status !== "running" || isStopping()) return "dropped";
      const { done } = tally;
      if (done > 0) log.info("run resumed", { run_id: id, done, total: run.totalTurns });
      // As it is stored now: nothing of its earlier end is left.
      const running = { status: "running", detail: null, finishedAt: null, tally: null } as const;
      life.loaded = { run: { ...run, ...running }, tally, finished };
      return "loaded";
    } catch (error) {
      if (!life.fault) log.error("cannot resume a run", { run_id: id, error });
      setFault(life, error, (error as Error).message);
      return isStopping() ? "dropped" : "failed";
    }
  }

  /** Stores `count` runs that start at once, or throws 503. */
  async function whileCreating<T>(count: number, work: () => Promise<T>): Promise<T> {
    if (room() < count) {
      throw overloaded({ what: "runs", max: maxRuns, setting: "MAX_RUNS" }, count);
    }
    creating += count;
    try {
      return await work();
    } finally {
      creating -= count;
      fillPlaces();
    }
  }

  /** As it is to be stored. A retry keeps its parent's scoring: it has turns of both runs. */
  function complete<R extends NewRun>(run: R): R {
    if (run.parentId !== undefined) return run;
    return { ...run, request: { ...run.request, scored_by: describeScoring(scoring) } };
  }

  /** Starts a run that was just stored; a retry has turns already. */
  async function launch(run: StoredRun): Promise<ActiveRun> {
    shared?.watch();
    if (run.parentId !== null) return await continueRun(run);
    const finished = sharing && createStoredParts(store, run);
    const loaded = { run, tally: NOTHING_YET, finished };
    return begin(run.id, "active", { loaded }).active!;
  }

  /** Throws 409 if the run was ended or deleted meanwhile. */
  async function continueRun(given: StoredRun): Promise<ActiveRun> {
    const { id } = given;
    shared?.watch();
    const life = lives.get(id) ?? begin(id, "starting", { given });
    await started(life);
    if (life.active) return life.active;
    throw life.fault?.error ?? endedMeanwhile(id);
  }

  async function started(life: Life): Promise<void> {
    while (life.state === "starting") await life.change.promise;
  }

  const isRunning: RunManager["isRunning"] = ({ id, status }) => {
    const life = lives.get(id);
    return life ? life.state !== "faulty" : sharing !== undefined && status === "running";
  };

  const changes: RunManager["changes"] = async (id) => {
    const life = lives.get(id);
    if (life) return { next: life.active?.changed() ?? life.change.promise };
    const next = sharing?.news(id);
    return next && (await store.getRecord(id))?.status === "running" ? { next } : undefined;
  };

  async function queueUnfinished(): Promise<void> {
    if (isListed || sharing) return; // the watch finds those of a shared database
    isListed = true;
    for (const id of await store.unfinishedRuns()) {
      held.add(id);
      queue(id);
    }
  }

  const manager: RunManager = {
    active: (id) => lives.get(id)?.active,
    isRunning,
    changes,
    isShared: sharing !== undefined,
    isQueued: (id) => lives.get(id)?.state === "queued",
    faultOf: (id) => lives.get(id)?.fault?.detail ?? null,
    get count() {
      return lives.values().filter(({ active }) => active).toArray().length;
    },
    get isStopping() {
      return isStopping();
    },

    async refresh(id) {
      const active = lives.get(id)?.active;
      if (active) await shared?.refresh(active);
    },

    async end(id, client) {
      for (;;) {
        const changed = await changes(id);
        const active = lives.get(id)?.active;
        if (active) {
          using _waiting = active.await();
          return await untilAbort(active.ended, client);
        }
        const status = (await store.getRecord(id))?.status ?? "cancelled";
        if (status !== "running" || !changed || isStopping()) return { status };
        await untilAbort(changed.next, client);
      }
    },

    async cancel({ id, status }) {
      const detail = "cancelled by a caller";
      const active = lives.get(id)?.active;
      if (active) {
        active.cancel(detail);
        return void await active.ended;
      }
      if (status !== "running" && status !== "interrupted") return;
      const from = ["running", "interrupted"] as const;
      await store.setStatus(id, { status: "cancelled", detail, tally: "count", from: [...from] });
      const life = lives.get(id);
      if (!life) return;
      await started(life); // it may have been read before
      if (waits(life)) tell(life, "dropped");
      life.active?.cancel(detail);
      await life.active?.ended;
    },

    interrupt(id) {
      const active = lives.get(id)?.active;
      if (!active) throw conflict(`cannot interrupt run ${id}: it is not running`);
      active.pause();
    },

    async start(run) {
      const known = run.idempotency && await store.findByKey(run.idempotency);
      if (known) return known; // it starts nothing, so the limit does not matter
      return await whileCreating(1, async () => {
        await requireUsable(run, deps);
        const created = await store.createRun(complete(run));
        if (created.outcome !== "created") return created;
        return { outcome: "started", active: await launch(created.run) };
      });
    },

    async startGroup(group) {
      const { idempotency } = group;
      const known = idempotency && await store.findByKey(idempotency);
      if (known) return known;
      return await whileCreating(group.runs.length, async () => {
        await requireUsable(group.runs.at(-1)!, deps); // the batch of all, the references of one
        const created = await store.createGroup({ ...group, runs: group.runs.map(complete) });
        if (created.outcome !== "created") return created;
        const active = await Promise.all(created.runs.map(launch));
        return { outcome: "started", id: created.id, active };
      });
    },

    async resume(run) {
      const { id, status } = run;
      const active = lives.get(id)?.active;
      if (active) return active;
      return await whileCreating(1, async () => {
        if (status !== "running") await store.setStatus(id, { status: "running", from: [status] });
        return await continueRun(run);
      });
    },

    queueUnfinished,

    async resumeUnfinished() {
      if (shared) return shared.watch();
      await queueUnfinished();
      held.clear();
      fillPlaces();
      await Promise.all(lives.values().map(started));
      const queued = lives.values().filter(isQueued).toArray().length;
      if (queued === 0) return;
      log.info("unfinished runs are queued: the limit of running runs is reached (MAX_RUNS)", {
        runs: queued,
      });
    },

    async interruptUnfinished() {
      if (shared) return shared.watch(); // other processes may be working on them
      await queueUnfinished();
      for (const life of lives.values().filter(isQueued).toArray()) {
        const { id } = life;
        const tally = await store.tally(id);
        await store.setStatus(id, { status: "interrupted", tally });
        tell(life, "dropped");
        log.info("run interrupted", { run_id: id, done: tally.done });
      }
    },

    async stop() {
      stopping.abort();
      await sharing?.pause().catch(() => {}); // the database is down
      for (const life of [...lives.values()]) if (waits(life)) tell(life, "dropped");
      await Promise.all(lives.values().map(({ active }) => active?.ended));
      sharing?.stop();
    },

    abandon() {
      for (const { active } of lives.values()) active?.stop({ status: "running" });
    },
  };
  return manager;
}
