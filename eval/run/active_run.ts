import type { InteractionResult } from "../test/interaction_result.ts";
import type { RunStatus, StoredRun, Tally } from "../store/run_record.ts";
import { z } from "zod";

/** How a run ended in this process. `running` means that a later process resumes it. */
export interface RunEnd {
  status: RunStatus;
  /** Set if something failed. */
  error?: unknown;
  /** Why the run could not be stored. It stays stored as running, and waits for the storage. */
  storageFault?: string;
}

/** A run that is running in this process. */
export type ActiveRun = ReturnType<typeof createActiveRun>;

/** Counts the turns of a run; `tally` counts those that were stored before. */
export function createActiveRun(
  run: StoredRun,
  { tally: before, now }: { tally: Tally; now: () => number },
) {
  const controller = new AbortController();
  const ended = Promise.withResolvers<RunEnd>();
  const started = now();
  const tally = { ...before };
  const tokens = { input_tokens: 0, output_tokens: 0 };
  let stoppedAs: RunEnd | undefined;
  let isPaused = false;
  let waiting = 0;
  let change = Promise.withResolvers<void>();

  /** Something about the run is new: wakes those who wait for `changed`. */
  function wake(): void {
    change.resolve();
    change = Promise.withResolvers();
  }

  return {
    run,
    /** Never rejects. */
    ended: ended.promise,
    signal: controller.signal,
    /** Ends the run at once; `detail` says why, and is stored. */
    cancel: (detail: string): void => controller.abort(new DOMException(detail, "AbortError")),
    /** Lets the running calls end and starts no further one: the run ends as `interrupted`. */
    pause: () => void (isPaused = true),
    get isPaused(): boolean {
      return isPaused;
    },
    /**
     * Ends the run in this process at once; nothing is stored: it stays `running` for the next
     * process, or another one has ended it.
     */
    stop(end: RunEnd): void {
      if (controller.signal.aborted) return; // it is being cancelled
      stoppedAs = end;
      controller.abort(new DOMException("the run goes on or was ended elsewhere", "AbortError"));
    },
    get stoppedAs(): RunEnd | undefined {
      return stoppedAs;
    },
    /** Counts a client that waits for the end, until it is disposed of. */
    await(): Disposable {
      waiting++;
      return { [Symbol.dispose]: () => void waiting-- };
    },
    get isAwaited(): boolean {
      return waiting > 0;
    },
    /** Counts a turn that was stored. */
    note(result: InteractionResult): void {
      const { overall } = result.scores;
      tally.done++;
      tally.lastSeq++;
      if (result.error) tally.failed++;
      if (result.missing_scores?.overall !== undefined) tally.missing++;
      tokens.input_tokens += result.usage?.input_tokens ?? 0;
      tokens.output_tokens += result.usage?.output_tokens ?? 0;
      if (typeof overall === "number") {
        tally.mean = ((tally.mean ?? 0) * tally.scored + overall) / (tally.scored + 1);
        tally.scored++;
      }
      wake();
    },
    /** Replaces the counts by those of the store, if other processes store turns too. */
    sync: (counted: Tally) => void Object.assign(tally, counted),
    wake,
    end(end: RunEnd): void {
      ended.resolve(end);
      wake();
    },
    tally: () => ({ ...tally }),
    /** The tokens of the replies received in this process, as far as the endpoint reported them. */
    tokens: () => ({ ...tokens }),
    progress(): RunProgress {
      const { done, failed, missing } = tally;
      const doneHere = done - before.done;
      const left = run.totalTurns - done;
      const eta_ms = doneHere === 0 ? null : Math.round((now() - started) / doneHere * left);
      const mean = left === 0 ? null : meanSoFar(tally);
      return { done, failed, missing, total: run.totalTurns, mean, eta_ms };
    },
    /** Resolves at the next stored turn, or when the run ends. */
    changed: () => change.promise,
  };
}

/** How far a run has come, as callers see it. */
export const RunProgress = z.object({
  done: z.int(),
  failed: z.int(),
  /** Answered turns whose `overall` could not be computed. */
  missing: z.int(),
  total: z.int(),
  /**
   * The mean `overall` of the turns so far, those that failed or lack it at 0; `null` once the run
   * has ended: then it has the `overall` of its report, a mean over scenarios.
   */
  mean: z.number().nullable(),
  /** The remaining time at the speed so far; `null` before the first turn. */
  eta_ms: z.number().nullable(),
}).meta({ id: "RunProgress" });
export type RunProgress = z.infer<typeof RunProgress>;

/** The mean of a run that is not over; turns without a score count 0. */
export function meanSoFar({ mean, scored, missing = 0 }: Tally): number | null {
  if (mean === null) return missing > 0 ? 0 : null;
  return mean * scored / (scored + missing);
}
