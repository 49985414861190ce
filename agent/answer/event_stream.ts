import {
  type ServerSentEventMessage,
  ServerSentEventStream,
} from "@std/http/server-sent-event-stream";
import { abortError } from "../../shared/abort.ts";

/** Sends one event; settles when the reader has taken it, rejects once the reader has left. */
export type Push = (event: ServerSentEventMessage) => Promise<void>;

export interface EventStreamOptions {
  /** The caller's: ends the work. */
  signal: AbortSignal;
  /** Milliseconds between the comments that keep proxies from cutting a silent connection. */
  keepAliveMs?: number;
}

/** What `produce` may know of the stream that it fills. */
export interface Outlet {
  /** Aborts when the reader leaves. */
  readonly signal: AbortSignal;
  /** The response has begun, by an event or by a comment: only an event can tell a failure now. */
  readonly isOpen: boolean;
}

export interface OpenedStream {
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * Streams what `produce` pushes. Settles when the first event is on its way, or at the time of the
 * first comment; rejects with what `produce` throws before that, so that a failure can still be
 * answered by its status. Once its outlet is open, `produce` turns a failure into an event itself.
 *
 * Nothing is buffered: `produce` waits for the reader.
 */
export async function openEventStream(
  produce: (push: Push, outlet: Outlet) => Promise<void>,
  { signal, keepAliveMs = 15_000 }: EventStreamOptions,
): Promise<OpenedStream> {
  const leaving = new AbortController();
  const leave = () => leaving.abort(abortError());
  const opened = Promise.withResolvers<void>();
  let isWanted = Promise.withResolvers<void>();
  let queue: Promise<void> = Promise.resolve();
  let isReaderWaiting = false;
  let isOpen = false;

  function open(): void {
    isOpen = true;
    opened.resolve();
  }
  const outlet: Outlet = {
    signal: leaving.signal,
    get isOpen() {
      return isOpen;
    },
  };

  const events = new ReadableStream<ServerSentEventMessage>({
    start(controller) {
      signal.addEventListener("abort", leave, { once: true });
      leaving.signal.addEventListener("abort", () => isWanted.reject(abortError()));
      isWanted.promise.catch(() => {}); // heard by whoever pushes
      if (signal.aborted) leave();

      async function send(event: ServerSentEventMessage): Promise<void> {
        await isWanted.promise;
        if (leaving.signal.aborted) throw abortError();
        isWanted = Promise.withResolvers();
        isWanted.promise.catch(() => {});
        isReaderWaiting = false;
        controller.enqueue(spaced(event));
      }
      function push(event: ServerSentEventMessage): Promise<void> {
        open();
        const sent = queue.then(() => send(event));
        queue = sent.catch(() => {});
        return sent;
      }

      const timer = setInterval(() => {
        open();
        if (isReaderWaiting) push({ comment: " keep-alive" }).catch(() => {});
      }, keepAliveMs);
      produce(push, outlet).then(
        () => controller.close(),
        (error) => {
          opened.reject(error);
          controller.error(error);
        },
      ).catch(() => {}) // the reader has left, and there is nothing to close
        .finally(() => {
          clearInterval(timer);
          signal.removeEventListener("abort", leave);
        });
    },
    pull() {
      isReaderWaiting = true;
      isWanted.resolve();
    },
    cancel: leave,
  }, { highWaterMark: 0 });

  await opened.promise;
  return { body: events.pipeThrough(new ServerSentEventStream()) };
}

/**
 * With a blank after each colon, as OpenAI writes it: readers that know the format drop it, and the
 * many that only look for "data: " find it.
 */
function spaced({ event, data, ...rest }: ServerSentEventMessage): ServerSentEventMessage {
  return {
    ...rest,
    ...(event !== undefined && { event: ` ${event}` }),
    ...(data !== undefined && { data: ` ${data}` }),
  };
}

/** The response of a stream that has opened. */
export function eventStreamResponse(
  { body }: OpenedStream,
  { headers = {}, status = 200 }: { headers?: Record<string, string>; status?: number } = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}
