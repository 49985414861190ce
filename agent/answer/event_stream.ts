import {
  type ServerSentEventMessage,
  ServerSentEventStream,
} from "@std/http/server-sent-event-stream";
import { abortError } from "../../shared/abort.ts";
import { type Connection, explainEnd } from "../../shared/http/server/connection.ts";
import { noteFailure, type RequestContext } from "../../shared/http/router/router.ts";
import { UNBUFFERED } from "../../shared/http/server/unbuffered.ts";

/** Sends one event. Resolves when the reader has taken it, rejects once the reader has left. */
export type Push = (event: ServerSentEventMessage) => Promise<void>;

/** What a stream needs from its request. */
export interface StreamOptions {
  /** The caller's; aborts the producer. */
  signal: AbortSignal;
  context: StreamContext;
  /** Milliseconds between the comments that keep proxies from cutting a silent connection. */
  keepAliveMs?: number | undefined;
}

interface StreamContext extends Pick<RequestContext, "requestId" | "fields" | "logAfter"> {
  /** If it ends, the stream's producer is aborted, and the caller gets the reason as an event. */
  connection?: Connection;
}

/** A stream, for the function that fills it. */
export interface Outlet {
  readonly push: Push;
  /** Aborts when the reader leaves, and when the service stops. */
  readonly signal: AbortSignal;
  /** The response has begun, with an event or a comment: a failure can only be sent as an event. */
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
  { headers, signal, keepAliveMs, ...produced }: ProducedStream,
): Promise<Response> {
  const body = await openEventStream(logged(produced), { signal, keepAliveMs });
  return eventStreamResponse(body, { headers: headers() });
}

/**
 * Streams what `produce` pushes. Resolves with the first event or the first keep-alive comment.
 * Rejects with what `produce` throws before that, so that the failure can still set the response's
 * status. Once the outlet is open, `produce` itself turns a failure into an event.
 *
 * Nothing is buffered: `produce` waits for the reader.
 */
export async function openEventStream(
  produce: Produce,
  { signal, keepAliveMs = 15_000 }: Omit<StreamOptions, "context">,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
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
  const events = new ReadableStream<ServerSentEventMessage>({
    start(controller) {
      signal.addEventListener("abort", leave, { once: true });
      leaving.signal.addEventListener("abort", () => isWanted.reject(abortError()));
      isWanted.promise.catch(() => {}); // handled by the pending push
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
      produce({ push, signal: leaving.signal, isOpen: () => isOpen }).then(
        () => controller.close(),
        (error) => {
          opened.reject(error);
          controller.error(error);
        },
      ).catch(() => {}) // the reader has left: there is nothing to close
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
  return events.pipeThrough(new ServerSentEventStream());
}

/**
 * Adds a space after each colon, as OpenAI does. Parsers of the format drop it, and the many clients
 * that only look for "data: " need it.
 */
function spaced({ event, data, ...rest }: ServerSentEventMessage): ServerSentEventMessage {
  return {
    ...rest,
    ...(event !== undefined && { event: ` ${event}` }),
    ...(data !== undefined && { data: ` ${data}` }),
  };
}

/** The response of an opened stream. */
export function eventStreamResponse(
  body: ReadableStream,
  { headers, status = 200 }: { headers: Record<string, string>; status?: number },
): Response {
  return new Response(body, {
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
  { produce, context, sendError }: Pick<ProducedStream, "produce" | "context" | "sendError">,
): Produce {
  const { fields, connection } = context;
  const ended = Promise.withResolvers<void>();
  context.logAfter(ended.promise);

  return async (outlet) => {
    const ending = connection?.ending?.();
    const signal = ending ? AbortSignal.any([outlet.signal, ending]) : outlet.signal;
    try {
      await produce({ ...outlet, signal });
    } catch (thrown) {
      const error = connection ? explainEnd(thrown, connection) : thrown;
      if (outlet.signal.aborted) fields.outcome = "client left";
      if (outlet.signal.aborted || !outlet.isOpen()) throw error;
      fields.outcome = "failed";
      noteFailure(error, context);
      await sendError(outlet.push, error);
    } finally {
      ended.resolve();
    }
  };
}
