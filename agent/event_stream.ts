import {
  type ServerSentEventMessage,
  ServerSentEventStream,
} from "@std/http/server-sent-event-stream";
import { abortError } from "./abort.ts";

/** Sends one event; settles when the reader has taken it, rejects once the reader has left. */
export type Push = (event: ServerSentEventMessage) => Promise<void>;

export interface EventStreamOptions {
  /** The caller's: ends the work. */
  signal: AbortSignal;
  /** Milliseconds between the comments that keep proxies from cutting a silent connection. */
  keepAliveMs?: number;
}

export interface OpenedStream {
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * Streams what `produce` pushes. Settles when the first event is on its way, or at the time of the
 * first comment; rejects with what `produce` throws before that, so that a failure can still be answered
 * by its status. `produce` turns a later failure into an event itself.
 *
 * Nothing is buffered: `produce` waits for the reader. Its signal aborts when the reader leaves.
 */
export async function openEventStream(
  produce: (push: Push, signal: AbortSignal) => Promise<void>,
  { signal, keepAliveMs = 15_000 }: EventStreamOptions,
): Promise<OpenedStream> {
  const leaving = new AbortController();
  const leave = () => leaving.abort(abortError());
  const opened = Promise.withResolvers<void>();
  let isWanted = Promise.withResolvers<void>();
  let queue: Promise<void> = Promise.resolve();
  let isReaderWaiting = false;

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
        opened.resolve();
        const sent = queue.then(() => send(event));
        queue = sent.catch(() => {});
        return sent;
      }

      const timer = setInterval(() => {
        opened.resolve();
        if (isReaderWaiting) push({ comment: " keep-alive" }).catch(() => {});
      }, keepAliveMs);
      produce(push, leaving.signal).then(
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
      // Said here, it keeps the server from holding the first events to see if they are all.
      "transfer-encoding": "chunked",
      ...headers,
    },
  });
}
