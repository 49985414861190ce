import { setImmediate } from "node:timers";
import { isAbort } from "../service/errors.ts";
import { type Admission, shuttingDown } from "./admission.ts";

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
  { connection, route }: { connection: Connection; route?: { limited?: false } },
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
