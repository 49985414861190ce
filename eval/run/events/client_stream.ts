import { UNBUFFERED } from "../../../shared/http/router/headers.ts";

/** A body that is produced while it is sent, and that reports when its client has left. */
export interface ClientStream {
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Aborted when the client leaves, by closing its connection or by cancelling the body. */
  left: AbortSignal;
  /** Settles when everything is sent, or the client has left. */
  ended: Promise<void>;
}

/** Yields the pieces of a body. `left` is that of the stream. */
type WritePieces = (left: AbortSignal) => AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** Sends what `write` yields. `client` is the request's own signal. */
export function createClientStream(client: AbortSignal, write: WritePieces): ClientStream {
  const cancelled = new AbortController();
  const left = AbortSignal.any([client, cancelled.signal]);
  const ended = Promise.withResolvers<void>();
  const pieces = write(left);

  function leave(): void {
    ended.resolve();
    pieces.return(undefined).catch(() => {}); // else it would wait for ever, with what it holds
  }
  left.addEventListener("abort", leave, { once: true });
  if (left.aborted) leave();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) return controller.enqueue(value);
        controller.close();
        ended.resolve();
      } catch (error) {
        ended.reject(error);
        throw error;
      }
    },
    // Not `ReadableStream.from`: it waits for the next piece before it reports the cancel.
    cancel: () => cancelled.abort(),
  }, { highWaterMark: 0 });
  ended.promise.catch(() => {}); // the reader of the body gets the error too
  return { body, left, ended: ended.promise };
}

/** A response with events, and what becomes of its client. */
export interface EventResponse extends Pick<ClientStream, "left" | "ended"> {
  response: Response;
}

/** The same for server-sent events, as a response. */
export function createEventResponse(client: AbortSignal, write: WritePieces): EventResponse {
  const { body, ...stream } = createClientStream(client, write);
  const headers = { "content-type": "text/event-stream", ...UNBUFFERED };
  return { response: new Response(body, { headers }), ...stream };
}

/** Waits for a promise, but at most `ms`, and no longer once the client has left. */
export async function waitFor(
  awaited: Promise<unknown>,
  { ms, left }: { ms: number; left: AbortSignal },
): Promise<"resolved" | "timed out" | "left"> {
  const { promise: end, resolve } = Promise.withResolvers<"timed out" | "left">();
  const leave = () => resolve("left");
  const timer = setTimeout(() => resolve("timed out"), ms);
  left.addEventListener("abort", leave, { once: true });
  if (left.aborted) leave();
  try {
    return await Promise.race([awaited.then(() => "resolved" as const), end]);
  } finally {
    clearTimeout(timer);
    left.removeEventListener("abort", leave);
  }
}
