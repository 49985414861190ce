import { abortError } from "../../../shared/service/waiting.ts";
import { streamResponse } from "../../../shared/http/answer.ts";
import { endingWith, explainEnd } from "../../../shared/http/connection.ts";
import { noteFailure, type RequestContext } from "../../../shared/http/router.ts";
import { UNBUFFERED } from "../../../shared/http/headers.ts";

/** An event, or a comment, which clients ignore. `data` is on one line. */
export type OutgoingEvent =
  | { event?: string; data: string; id?: string }
  | { comment: string };

/**
 * Sends one event. Resolves when there is room for the next one, rejects once the reader has left.
 */
export type Push = (event: OutgoingEvent) => Promise<void>;

/** What a stream needs from its request. */
export interface StreamOptions {
  /** The caller's; aborts the producer. */
  signal: AbortSignal;
  /** If its connection ends, the producer is aborted, and the caller gets the reason as an event. */
  context: RequestContext;
  /** Keeps the stream, so that it can be taken up again; see `createKeptStreams`. */
  keep?: ((stream: Pick<ProducedStream, "produce" | "sendError">) => Produce) | undefined;
  /** Milliseconds between the comments that keep proxies from cutting a silent connection. */
  keepAliveMs?: number | undefined;
}

/** A stream, for the function that fills it. */
interface Outlet {
  readonly push: Push;
  /** Aborts when the reader leaves, and when the service stops. */
  readonly signal: AbortSignal;
  /** True once an event or a comment was sent: a failure can then only be sent as an event. */
  isOpen(): boolean;
}

/** Fills a stream. */
export type Produce = (outlet: Outlet) => Promise<void>;

interface ProducedStream extends StreamOptions {
  produce: Produce;
  /** Sends the event that describes a failure after the stream has opened. */
  sendError: (push: Push, error: unknown) => Promise<void>;
  /** Read when the stream opens. */
  headers: () => Record<string, string>;
}

/** Answers with what `produce` pushes. Rejects as `openEventStream` does. */
export async function streamEvents(
  { headers, signal, keepAliveMs, keep, ...produced }: ProducedStream,
): Promise<Response> {
  const { context } = produced;
  const sendError: ProducedStream["sendError"] = (push, error) => {
    context.fields.outcome = "failed";
    noteFailure(error, context);
    return produced.sendError(push, error);
  };
  const produce = keep ? keep({ ...produced, sendError }) : produced.produce;
  const body = await openEventStream(logged({ produce, sendError }, context), {
    signal,
    keepAliveMs,
  });
  return eventStreamResponse(body, { headers: headers() });
}

/** Shortest time between two writes: a write costs as much as all other work for an event. */
const WRITE_EVERY_MS = 10;

/** Characters that may be buffered for a slow reader. Beyond them `push` waits. */
const MAX_HELD = 16 * 1024;

/**
 * Streams what `produce` pushes. Resolves with the first event or the first keep-alive comment.
 * Rejects with what `produce` throws before that, so that the failure can still set the response's
 * status. Once the outlet is open, `produce` itself turns a failure into an event.
 *
 * An event is sent at once, unless another was sent less than 10 ms ago: then it is sent together
 * with the others that arrive until those 10 ms have passed.
 */
export async function openEventStream(
  produce: Produce,
  { signal, keepAliveMs = 15_000 }: { signal: AbortSignal; keepAliveMs?: number | undefined },
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const leaving = new AbortController();
  const leave = () => leaving.abort(abortError());
  const opened = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  let held = "";
  /** Set while `produce` waits until the buffered text is sent. */
  let sent: PromiseWithResolvers<void> | undefined;
  let isReaderWaiting = false;
  let lastWrite = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOpen = false;
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

  function open(): void {
    isOpen = true;
    opened.resolve();
  }

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    if (held === "" || leaving.signal.aborted) return;
    isReaderWaiting = false;
    lastWrite = performance.now();
    controller.enqueue(encoder.encode(held));
    held = "";
    sent?.resolve();
    sent = undefined;
  }

  function writeSoon(): void {
    if (!isReaderWaiting || held === "") return;
    const wait = lastWrite + WRITE_EVERY_MS - performance.now();
    if (wait <= 0 || held.length >= MAX_HELD) write();
    else timer ??= setTimeout(write, wait);
  }

  function push(event: OutgoingEvent): Promise<void> {
    open();
    if (leaving.signal.aborted) return Promise.reject(abortError());
    held += toText(event);
    writeSoon();
    if (held.length < MAX_HELD) return SENT;
    sent ??= Promise.withResolvers();
    return sent.promise;
  }

  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (own) => void (controller = own),
    pull() {
      isReaderWaiting = true;
      writeSoon();
    },
    cancel: leave,
  }, { highWaterMark: 0 });
  signal.addEventListener("abort", leave, { once: true });
  leaving.signal.addEventListener("abort", () => sent?.reject(abortError()));
  if (signal.aborted) leave();
  const keepAlive = setInterval(() => {
    open();
    if (isReaderWaiting && held === "") push({ comment: "keep-alive" }).catch(() => {});
  }, keepAliveMs);
  produce({ push, signal: leaving.signal, isOpen: () => isOpen }).then(
    () => {
      write();
      controller.close();
    },
    (error) => {
      opened.reject(error);
      controller.error(error);
    },
  ).catch(() => {}) // the reader has left: there is nothing to close
    .finally(() => {
      clearInterval(keepAlive);
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    });
  await opened.promise;
  return body;
}

const SENT = Promise.resolve();

/** With a space after each colon, as OpenAI does: many clients only look for "data: ". */
function toText(event: OutgoingEvent): string {
  if ("comment" in event) return `: ${event.comment}\n\n`;
  const name = event.event === undefined ? "" : `event: ${event.event}\n`;
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  return `${id}${name}data: ${event.data}\n\n`;
}

/** The response of an opened stream. */
export function eventStreamResponse(
  body: ReadableStream,
  { headers, status = 200 }: { headers: Record<string, string>; status?: number },
): Response {
  return streamResponse(body, {
    status,
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      ...UNBUFFERED,
      ...headers,
    },
  });
}

/**
 * Reports how a stream ends: a failure after it has opened goes to the caller through `sendError`,
 * and the request's log line waits for the end. `produce` is aborted when the reader leaves and when
 * the service stops.
 */
function logged(
  { produce, sendError }: { produce: Produce; sendError: ProducedStream["sendError"] },
  context: RequestContext,
): Produce {
  const { fields, connection } = context;
  const ended = Promise.withResolvers<void>();
  context.logAfter(ended.promise);

  return async (outlet) => {
    try {
      await produce({ ...outlet, signal: endingWith(outlet.signal, connection) });
    } catch (thrown) {
      const error = explainEnd(thrown, connection);
      if (outlet.signal.aborted) fields.outcome = "client left";
      if (outlet.signal.aborted || !outlet.isOpen()) throw error;
      await sendError(outlet.push, error);
    } finally {
      ended.resolve();
    }
  };
}
