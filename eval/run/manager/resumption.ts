import type { Logger } from "../../../shared/log.ts";
import type { StoredRun, Tally } from "../../store/runs/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import { isStorageFault } from "../../store/store_fault.ts";
import type { createSaver } from "../execute/execution.ts";
import type { ActiveRun } from "./active_run.ts";

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

type Timer = ReturnType<typeof setTimeout>;

interface ResumptionDeps {
  store: RunStore;
  log: Logger;
  saver: Pick<ReturnType<typeof createSaver>, "forget">;
  /** The runs of this process. */
  runs: ReadonlyMap<string, ActiveRun>;
  isStopping: () => boolean;
  /** How many further runs may start. */
  room: () => number;
  /** Counts a run as starting until the work is done. */
  whileStarting: (work: () => Promise<void>) => Promise<void>;
  resume: (
    run: StoredRun,
    options: { onResume: (tally: Tally) => void },
  ) => Promise<ActiveRun | undefined>;
  /** The first wait after a storage fault; it doubles. */
  delayMs?: number | undefined;
}

/** Resumes runs without a client: queued ones when there is room, others after a storage fault. */
export function createResumption(deps: ResumptionDeps) {
  const { store, log, saver, runs, isStopping, room, whileStarting, resume } = deps;
  const { delayMs: firstDelayMs = FIRST_DELAY_MS } = deps;
  const queue = createResumeQueue();
  /** Runs that wait until the storage works again. */
  const faults = new Map<string, { detail: string; delayMs: number; timer: Timer }>();
  /** Runs that could not be resumed. Some are tried again every second; each is logged once. */
  const failing = new Set<string>();

  function resumeLater(id: string, detail: string): void {
    const before = faults.get(id);
    clearTimeout(before?.timer);
    if (isStopping()) return;
    const delayMs = before ? Math.min(2 * before.delayMs, LONGEST_DELAY_MS) : firstDelayMs;
    faults.set(id, { detail, delayMs, timer: setTimeout(() => tryAgain(id), delayMs) });
  }

  /** Never rejects. While it is tried, the run is not queued but still waits for the storage. */
  async function tryAgain(id: string): Promise<void> {
    if (isStopping() || room() <= 0) return enqueue([id]);
    await whileStarting(() => resumeLeft(id));
    await resumeQueued();
  }

  function forgetFault(id: string): void {
    clearTimeout(faults.get(id)?.timer);
    faults.delete(id);
  }

  function enqueue(ids: string[]): void {
    if (isStopping()) return;
    queue.add(ids);
    resumeQueued();
  }

  /** Resumes queued runs as long as there is room. Never rejects. */
  async function resumeQueued(): Promise<void> {
    while (!isStopping() && room() > 0) {
      const id = queue.take();
      if (id === undefined) return;
      await whileStarting(() => resumeLeft(id));
      if (!queue.has(id)) runs.get(id)?.cancel("cancelled by a caller"); // while it was read
      queue.drop(id);
    }
  }

  /** Never rejects. */
  async function resumeLeft(id: string): Promise<void> {
    try {
      const run = await store.getRun(id);
      const isLeft = run?.status === "running" && !runs.has(id) && !isStopping();
      const resumed = isLeft
        ? await resume(run, {
          onResume: ({ done }) =>
            log.info("run resumed", { run_id: id, done, total: run.totalTurns }),
        })
        : undefined;
      failing.delete(id);
      if (!resumed) { // deleted, cancelled or resumed by a caller
        forgetFault(id);
        return saver.forget(id);
      }
      resumed.detach();
    } catch (error) {
      if (!failing.has(id) && !faults.has(id)) {
        log.error("cannot resume a run", { run_id: id, error });
      }
      failing.add(id);
      if (isStorageFault(error)) resumeLater(id, error.message);
    }
  }

  return {
    queue,
    enqueue,
    resumeQueued,
    resumeLater,
    forgetFault,
    faultOf: (id: string) => faults.get(id)?.detail ?? null,
    /** Call it once `isStopping`. */
    stop(): void {
      for (const { timer } of faults.values()) clearTimeout(timer);
      queue.dropAll();
    },
  };
}

/**
 * The queue of runs that wait to be resumed until `EVAL_MAX_RUNS` allows it. Holds only ids: a
 * request may have megabytes.
 */
function createResumeQueue() {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const queue: string[] = [];

  /** The run is resumed, or will never be. */
  function drop(id: string): void {
    waiting.get(id)?.resolve();
    waiting.delete(id);
  }

  return {
    get count() {
      return waiting.size;
    },
    has: (id: string) => waiting.has(id),
    /** In the order in which they are to be resumed. */
    add(ids: string[]): void {
      for (const id of ids) {
        if (waiting.has(id)) continue;
        waiting.set(id, Promise.withResolvers());
        queue.push(id);
      }
    },
    /** The next run; it counts as waiting until it is dropped. */
    take(): string | undefined {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        if (waiting.has(id)) return id; // the others were dropped
      }
      return undefined;
    },
    drop,
    dropAll: () => [...waiting.keys()].forEach(drop),
    /** Resolves once the run is dropped; `undefined` if it does not wait. */
    changed: (id: string) => waiting.get(id)?.promise,
  };
}
