import { setImmediate } from "node:timers";
import { AppError, isAbort } from "../service/errors.ts";

/** The connection of a request. */
export interface Connection {
  /** IP address of the other end: the caller, or a proxy. */
  readonly address: string;
  /** Calls back once, when the answer has been sent or the client has left. */
  onClose(callback: () => void): void;
  /** Of the server that accepted the request; missing in tests without a server. */
  readonly admission?: Admission;
}

/**
 * The signal for work that is not worth finishing without its caller: aborted when the client leaves
 * and when the service ends.
 */
export function workSignal(request: Request, connection: Connection): AbortSignal {
  return endingWith(request.signal, connection);
}

/** Aborted with the signal, and when the service ends. */
export function endingWith(signal: AbortSignal, { admission, onClose }: Connection): AbortSignal {
  if (!admission) return signal;
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  const end = () => controller.abort(new DOMException("the service ends", "AbortError"));
  onClose(admission.onEnd(end));
  return controller.signal;
}

/** 503 `shutting_down` for an abort by the end of the service; other errors as they are. */
export function explainEnd(error: unknown, connection: Connection): unknown {
  return isAbort(error) && connection.admission?.isEnding ? shuttingDown() : error;
}

/**
 * Counts a request as running until its answer is sent. A guard, so that a refusal is answered,
 * logged and counted like any other. Probes are not counted: a busy service is still alive, and one
 * that is stopping has to say so.
 */
export async function requireAdmission(
  _request: Request,
  { connection, route }: { connection: Connection; route?: { limited?: false } | undefined },
): Promise<void> {
  if (!connection.admission || route?.limited === false) return;
  connection.onClose(connection.admission.take());
  while (begun >= TOGETHER) await new Promise((resolve) => setImmediate(resolve));
  if (begun++ === 0) setImmediate(() => begun = 0);
}

/** Requests that begin in one turn of the event loop: probes must not wait for hundreds of others. */
const TOGETHER = 4;
let begun = 0;

/** A connection without a socket: it closes when the answer is made. */
export function createLocalConnection(): Connection & { close(): void } {
  const callbacks: (() => void)[] = [];
  return {
    address: "127.0.0.1",
    onClose: (callback) => void callbacks.push(callback),
    close: () => callbacks.splice(0).forEach((callback) => callback()),
  };
}

/** How much of one kind of work may run at once. */
interface Limit {
  /** What runs. */
  what: "runs" | "requests";
  max: number;
  /** The variable that sets `max`, for the message of a refusal; if one does. */
  setting?: string;
}

/** Counts running work against a limit. */
export interface Capacity {
  /** How much is running now. */
  readonly used: number;
  /**
   * Counts one more and returns the function that ends it; calling that twice does no harm. Throws
   * 503 `overloaded` at the limit. There is no queue: a caller that waits in an endless one has left
   * by the time it is served.
   */
  take(): () => void;
}

const RETRY_AFTER_SECONDS = 2;

export function createCapacity(limit: Limit): Capacity {
  let used = 0;
  return {
    get used() {
      return used;
    },
    take() {
      if (used >= limit.max) throw overloaded(limit);
      used++;
      let isHeld = true;
      return () => {
        if (isHeld) used--;
        isHeld = false;
      };
    },
  };
}

/** 503 for work over a limit; `more` is how much was asked for at once. */
export function overloaded({ what, max, setting }: Limit, more = 1): AppError {
  const by = setting ? ` (${setting})` : "";
  const reason = more === 1
    ? `${max} are running${by}`
    : `${more} more would exceed the limit of ${max}${by}`;
  return new AppError(
    503,
    "overloaded",
    `too many ${what}: ${reason}; retry in ${RETRY_AFTER_SECONDS} s`,
    { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
  );
}

/** Decides whether the server accepts a request: not at its limit, and not once it is stopping. */
export interface Admission extends Capacity {
  readonly isStopping: boolean;
  stop(): void;
  /** True once the grace time is over: running requests are aborted, and their callers told why. */
  readonly isEnding: boolean;
  end(): void;
  /** Calls back at `end`; returns the function that removes the callback. */
  onEnd(callback: () => void): () => void;
}

export function createAdmission(limit: Limit): Admission {
  const capacity = createCapacity(limit);
  const callbacks = new Set<() => void>();
  let isStopping = false;
  let isEnding = false;
  return {
    get used() {
      return capacity.used;
    },
    get isStopping() {
      return isStopping;
    },
    stop() {
      isStopping = true;
    },
    get isEnding() {
      return isEnding;
    },
    end() {
      isStopping = isEnding = true;
      for (const callback of callbacks) callback();
      callbacks.clear();
    },
    onEnd(callback) {
      if (isEnding) callback();
      else callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
    take() {
      if (isStopping) throw shuttingDown();
      return capacity.take();
    },
  };
}

/** 503 on connections that were open before the stop; new ones are not accepted at all. */
function shuttingDown(): AppError {
  return new AppError(503, "shutting_down", "the service is stopping; retry in 5 s", {
    headers: { connection: "close", "retry-after": "5" },
  });
}
