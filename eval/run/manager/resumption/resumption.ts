import type { Logger } from "../../../../shared/log.ts";
import type { StoredRun, Tally } from "../../../store/runs/run_record.ts";
import type { RunStore } from "../../../store/store.ts";
import { isStorageFault } from "../../../store/store_fault.ts";
import type { ActiveRun } from "../active_run.ts";
import { createRecovery } from "./recovery.ts";
import type { RunLimit } from "../run_limit.ts";
import type { Saver } from "../../execute/saver.ts";
import { createWaitingRuns } from "../waiting_runs.ts";

/** Resumes runs that need no client: those of an earlier process, or after a storage fault. */
interface Resumption {
  /** Queues the runs that are stored as running. */
  queueUnfinished(): Promise<void>;
  /** Resumes them, oldest first. Resolves when the first ones have started. */
  resumeUnfinished(): Promise<void>;
  /** Marks them `interrupted` instead. */
  interruptUnfinished(): Promise<void>;
  /** Queues runs and resumes as many as the limit allows. */
  join(ids: string[]): void;
  /** Resumes queued runs as long as the limit allows. Never rejects. */
  resumeNext(): Promise<void>;
  /** Resumes a run that a storage fault has interrupted, after a wait. */
  resumeLater(id: string): void;
  isQueued(id: string): boolean;
  /** Resolves once a queued run is resumed or dropped; `undefined` if it is not queued. */
  waiting(id: string): Promise<void> | undefined;
  /** Removes a run from the queue. */
  drop(id: string): void;
  stop(): void;
}

interface ResumptionOptions {
  store: RunStore;
  log: Logger;
  limit: RunLimit;
  saver: Saver;
  active: (id: string) => ActiveRun | undefined;
  /** See `Launching`. */
  resume: (
    run: StoredRun,
    options: { onResume: (tally: Tally) => void },
  ) => Promise<ActiveRun | undefined>;
  isStopping: () => boolean;
  /** The wait before a run is resumed that a storage fault has interrupted. */
  delayMs?: number | undefined;
}

export function createResumption(
  { store, log, limit, saver, active, resume, isStopping, delayMs }: ResumptionOptions,
): Resumption {
  const waiting = createWaitingRuns();
  const recovery = createRecovery(delayMs === undefined ? {} : { delayMs });
  /** Runs that could not be resumed. Some are tried again every second; each is logged once. */
  const failing = new Set<string>();
  let isListed = false; // only once: later, runs of this process are stored as running too

  async function resumeStored(id: string): Promise<void> {
    const run = await store.getRun(id);
    const isLeft = run?.status === "running" && !active(id) && !isStopping();
    const onResume = ({ done }: Tally) =>
      log.info("run resumed", { run_id: id, done, total: run!.totalTurns });
    const resumed = isLeft ? await resume(run, { onResume }) : undefined;
    failing.delete(id);
    if (!resumed) return saver.forget(id); // deleted, cancelled or resumed by a caller
    resumed.detach();
  }

  /** The same as soon as the limit allows. */
  async function resumeInTurn(id: string): Promise<void> {
    if (limit.isFull()) return waiting.add([id]);
    try {
      await limit.count(() => resumeStored(id));
    } catch (error) {
      resumeNext();
      throw error;
    }
  }

  async function resumeNext(): Promise<void> {
    while (!isStopping() && !limit.isFull()) {
      const id = waiting.take();
      if (id === undefined) return;
      await limit.count(() => resumeQueued(id));
      waiting.drop(id);
    }
  }

  /** Never rejects. */
  async function resumeQueued(id: string): Promise<void> {
    try {
      await resumeStored(id);
      if (!waiting.has(id)) active(id)?.cancel("cancelled by a caller"); // while it was read
    } catch (error) {
      if (!failing.has(id)) log.error("cannot resume a run", { run_id: id, error });
      failing.add(id);
      if (isStorageFault(error)) resumeLater(id);
    }
  }

  const resumeLater = (id: string) => recovery.later(id, () => resumeInTurn(id));

  async function queueUnfinished(): Promise<void> {
    isListed = true;
    waiting.add(await store.unfinishedRuns());
  }

  return {
    queueUnfinished,
    resumeNext,
    resumeLater,
    join(ids) {
      if (isStopping()) return;
      waiting.add(ids);
      resumeNext();
    },
    isQueued: waiting.has,
    waiting: waiting.changed,
    drop: waiting.drop,

    async resumeUnfinished() {
      if (!isListed) await queueUnfinished();
      await resumeNext();
      if (waiting.count > 0) {
        log.info(
          "unfinished runs are queued: the limit of running runs is reached (EVAL_MAX_RUNS)",
          { runs: waiting.count },
        );
      }
    },

    async interruptUnfinished() {
      if (!isListed) await queueUnfinished();
      for (let id = waiting.take(); id !== undefined; id = waiting.take()) {
        const tally = await store.tally(id);
        await store.setStatus(id, { status: "interrupted", tally });
        waiting.drop(id);
        log.info("run interrupted", { run_id: id, done: tally.done });
      }
    },

    stop() {
      recovery.stop();
      waiting.dropAll();
    },
  };
}
