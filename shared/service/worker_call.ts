import { errorMessage } from "./errors.ts";
import type { Logger } from "./log.ts";

/** What a worker is sent, and what it answers; `serveCalls` is the other side. */
export interface WorkerRequest<Input> {
  id: number;
  input: Input;
  /** After this time the caller no longer waits. */
  limitMs: number;
}

export type WorkerResponse<Output> =
  | { id: number; output: Output }
  | { id: number; error: string };

/** The part of a `Worker` that a call needs. */
export type WorkerPort = Pick<
  Worker,
  "postMessage" | "terminate" | "onmessage" | "onerror" | "onmessageerror"
>;

/**
 * A function that runs in a worker. Rejects with `WorkerUnavailable` if there is no answer. Callers
 * that are named take turns: next is the one that was served longest ago.
 */
export interface WorkerCall<Input, Output> extends Disposable {
  (input: Input, caller?: object): Promise<Output>;
}

/** The worker died, took too long or cannot be started; the message names it and says why. */
export class WorkerUnavailable extends Error {
  override readonly name = "WorkerUnavailable";
}

/** The call itself took too long; another call may not. */
export class WorkerTooSlow extends WorkerUnavailable {}

/** Events of a worker, for logs, metrics and readiness. */
export type WorkerEvent =
  /** `failedStarts`: starts in a row without an answer; 0 if the worker had answered before. */
  | { kind: "died"; reason: string; deaths: number; failedStarts: number; retryInMs: number }
  | { kind: "restarted" }
  /** The first answer after a death. */
  | { kind: "recovered" };

export interface WorkerCallOptions<Input> {
  /** Names the worker in messages. */
  name?: string;
  /**
   * Limit of one call, from the moment the worker gets it. A call that exceeds it ends the worker.
   */
  timeoutMs?: number;
  /**
   * Gives an input that any working worker answers quickly. A worker gets it first whenever it is
   * started, so that neither a slow start nor a call that kills workers is mistaken for the other.
   * It also restarts a worker while there are no calls.
   */
  probe?: () => Input;
  onEvent?: ((event: WorkerEvent) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** Limit of a worker's first call, in which it loads what it needs. */
const START_TIMEOUT_MS = 30_000;
/** A call that was running when its worker died is retried once. */
const MAX_TRIES = 2;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** After this many failed starts in a row calls are rejected at once instead of waiting. */
const PATIENT_STARTS = 4;

interface QueuedCall<Input, Output> extends PromiseWithResolvers<Output> {
  input: Input;
  tries: number;
  isProbe: boolean;
  caller: object | undefined;
  /** When it was queued, by the count of calls. */
  at: number;
}

/**
 * Calls a function in a worker, one call at a time; the others are queued here. Write
 * `new Worker(new URL("./name.ts", import.meta.url), …)` in `start`, with a file name that no other
 * worker has: `deno compile --bundle` finds workers by that text alone. The worker is started at
 * the first call. One that dies is started again: at once if it had answered before, else after a
 * delay that doubles. Disposing ends the worker.
 */
export function createWorkerCall<Input, Output>(
  start: () => WorkerPort,
  options: WorkerCallOptions<Input> = {},
): WorkerCall<Input, Output> {
  const { name = "background", timeoutMs = DEFAULT_TIMEOUT_MS, probe, onEvent } = options;
  const queue: QueuedCall<Input, Output>[] = [];
  /** When a caller was last served, by the count of calls. */
  const servedAt = new WeakMap<object, number>();
  let count = 0;
  let current: { id: number; call: QueuedCall<Input, Output> } | undefined;
  let worker: WorkerPort | undefined;
  let callTimer: ReturnType<typeof setTimeout> | undefined;
  let startTimer: ReturnType<typeof setTimeout> | undefined;
  let lastId = 0;
  let deaths = 0;
  let failedStarts = 0;
  let lastReason = "";
  /** Since the worker was last started. */
  let hasAnswered = false;
  let isRecovering = false;
  let isEnded = false;

  const unavailable = (reason: string) =>
    new WorkerUnavailable(`the ${name} worker is unavailable: ${reason}`);

  function begin(): WorkerPort {
    const started = start();
    started.onmessage = ({ data }: MessageEvent<WorkerResponse<Output>>) => {
      if (worker === started) receive(data);
    };
    started.onerror = (event) => {
      event.preventDefault(); // otherwise it ends the process
      if (worker === started) die(event.message);
    };
    started.onmessageerror = () => {
      if (worker === started) die("its answer cannot be read");
    };
    return started;
  }

  /** Gives the worker the next call, if it is free. */
  function pump(): void {
    while (!current && startTimer === undefined && queue.length > 0) {
      if (!worker) queueProbe();
      const call = takeNext();
      const limitMs = hasAnswered ? timeoutMs : Math.max(timeoutMs, START_TIMEOUT_MS);
      current = { id: ++lastId, call };
      call.tries++;
      try {
        worker ??= begin();
      } catch (error) {
        return die(errorMessage(error));
      }
      callTimer = setTimeout(() => tooSlow(call, limitMs / 1000), limitMs);
      try {
        const request: WorkerRequest<Input> = { id: lastId, input: call.input, limitMs };
        worker.postMessage(request);
      } catch (error) { // the input cannot be cloned: that is the caller's fault
        finishCurrent();
        call.reject(error);
      }
    }
  }

  function takeNext(): QueuedCall<Input, Output> {
    const waitsSince = ({ caller, at }: QueuedCall<Input, Output>) =>
      (caller && servedAt.get(caller)) ?? at;
    let next = queue[0]!;
    if (!next.isProbe) {
      for (const call of queue) if (waitsSince(call) < waitsSince(next)) next = call;
    }
    queue.splice(queue.indexOf(next), 1);
    if (next.caller) servedAt.set(next.caller, ++count);
    return next;
  }

  function finishCurrent(): void {
    clearTimeout(callTimer);
    current = undefined;
  }

  function receive(data: WorkerResponse<Output>): void {
    if (current?.id !== data.id) return;
    const { call } = current;
    if ("error" in data) {
      if (call.isProbe) return die(data.error);
      finishCurrent();
      call.reject(new Error(data.error));
    } else {
      finishCurrent();
      hasAnswered = true;
      failedStarts = 0;
      if (isRecovering) onEvent?.({ kind: "recovered" });
      isRecovering = false;
      call.resolve(data.output);
    }
    pump();
  }

  function tooSlow(call: QueuedCall<Input, Output>, seconds: number): void {
    call.reject(new WorkerTooSlow(`the ${name} worker took longer than ${seconds} s`));
    die(`a call took longer than ${seconds} s`, { isLost: true });
  }

  function die(reason: string, { isLost = false } = {}): void {
    const call = current?.call;
    finishCurrent();
    worker?.terminate();
    worker = undefined;
    deaths++;
    failedStarts = hasAnswered ? 0 : failedStarts + 1;
    hasAnswered = false;
    isRecovering = true;
    lastReason = reason;
    if (call && !call.isProbe && !isLost) {
      if (call.tries >= MAX_TRIES) call.reject(unavailable(reason));
      else {
        call.at = ++count; // behind the others, in case it is what kills the worker
        queue.push(call);
      }
    }
    queueProbe(); // even without waiting calls: the worker should be ready before the next one
    if (failedStarts >= PATIENT_STARTS) rejectWaiting(unavailable(reason));
    const retryInMs = restartDelayMs(failedStarts);
    onEvent?.({ kind: "died", reason, deaths, failedStarts, retryInMs });
    startTimer = setTimeout(() => {
      startTimer = undefined;
      if (queue.length > 0) onEvent?.({ kind: "restarted" });
      pump();
    }, retryInMs);
  }

  function queueProbe(): void {
    if (probe === undefined || queue[0]?.isProbe) return;
    queue.unshift(queued(probe(), { isProbe: true }));
  }

  function queued(
    input: Input,
    { isProbe = false, caller }: { isProbe?: boolean; caller?: object | undefined },
  ): QueuedCall<Input, Output> {
    const resolvers = Promise.withResolvers<Output>();
    const call = { ...resolvers, input, tries: 0, isProbe, caller, at: ++count };
    if (isProbe) call.promise.catch(() => {}); // the worker's events report its outcome
    return call;
  }

  function rejectWaiting(error: Error): void {
    for (const call of queue.splice(0)) {
      if (call.isProbe && !isEnded) queue.push(call);
      else call.reject(error);
    }
  }

  const call = (input: Input, caller?: object): Promise<Output> => {
    if (isEnded) return Promise.reject(unavailable("it was ended"));
    if (failedStarts >= PATIENT_STARTS && startTimer !== undefined) {
      return Promise.reject(unavailable(lastReason));
    }
    const waiting = queued(input, { caller });
    queue.push(waiting);
    pump();
    return waiting.promise;
  };

  function end(): void {
    isEnded = true;
    clearTimeout(startTimer);
    const under = current?.call;
    finishCurrent();
    worker?.terminate();
    worker = undefined;
    under?.reject(unavailable("it was ended"));
    rejectWaiting(unavailable("it was ended"));
  }
  return Object.assign(call, { [Symbol.dispose]: end });
}

/** None after a worker that had answered and for the first failed start; then it doubles. */
function restartDelayMs(failedStarts: number): number {
  if (failedStarts <= 1) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (failedStarts - 2), LONGEST_DELAY_MS);
}

/** For workers that only compute: no files, no network, no environment. */
export const COMPUTE_ONLY = {
  type: "module",
  deno: { permissions: { read: false, write: false, net: false, env: false, run: false } },
} as const;

/** Failed starts in a row after which a worker counts as down. */
const DOWN_AFTER_FAILED_STARTS = 2;

/** The state of a process's workers. */
export interface WorkerBoard {
  /** For the `onEvent` of one worker; several workers may have the same name. */
  watch(name: string): (event: WorkerEvent) => void;
  /** Restarts by name, of every name that is watched. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Names the workers that cannot be started, with the reasons; `undefined` if all can. */
  check(): string | undefined;
}

/** Logs each death and recovery, counts restarts and knows which workers are down. */
export function createWorkerBoard(log: Logger): WorkerBoard {
  const restarts = new Map<string, number>();
  const down = new Map<symbol, string>();
  return {
    restarts,
    watch(name) {
      const worker = Symbol(name);
      restarts.set(name, restarts.get(name) ?? 0);
      return (event) => {
        if (event.kind === "restarted") restarts.set(name, restarts.get(name)! + 1);
        if (event.kind === "recovered") {
          down.delete(worker);
          log.info("worker recovered", { worker: name });
        }
        if (event.kind === "died") {
          const { reason, deaths, failedStarts, retryInMs } = event;
          log.error("worker died", { worker: name, reason, deaths, retry_in_ms: retryInMs });
          if (failedStarts >= DOWN_AFTER_FAILED_STARTS) {
            down.set(worker, `the ${name} worker cannot be started: ${reason}`);
          }
        }
      };
    },
    check: () => down.size === 0 ? undefined : [...new Set(down.values())].join("; "),
  };
}
