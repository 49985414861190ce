/** A body that is made while it is sent, and that knows when its reader has gone. */
export interface ClientStream {
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Aborted when the client leaves, by closing its connection or by cancelling the body. */
  left: AbortSignal;
  /** Settles when all is sent, or the client has left. */
  ended: Promise<void>;
}

/** Sends what `write` yields. `client` is the request's own signal. */
export function createClientStream(
  client: AbortSignal,
  write: (left: AbortSignal) => AsyncIterator<Uint8Array<ArrayBuffer>>,
): ClientStream {
  const cancelled = new AbortController();
  const left = AbortSignal.any([client, cancelled.signal]);
  const ended = Promise.withResolvers<void>();
  left.addEventListener("abort", () => ended.resolve(), { once: true });
  if (left.aborted) ended.resolve();
  const pieces = write(left);
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
    // Not `ReadableStream.from`: it would wait for the next piece before it told anyone.
    cancel: () => cancelled.abort(),
  }, { highWaterMark: 0 });
  ended.promise.catch(() => {}); // heard by whoever waits for it, and by who reads
  return { body, left, ended: ended.promise };
}

/** Waits for something, but no longer than `ms` and not for a client that has left. */
export async function waitFor(
  something: Promise<unknown>,
  { ms, left }: { ms: number; left: AbortSignal },
): Promise<"it came" | "nothing came"> {
  const { promise: silence, resolve } = Promise.withResolvers<"nothing came">();
  const giveUp = () => resolve("nothing came");
  const timer = setTimeout(giveUp, ms);
  left.addEventListener("abort", giveUp, { once: true });
  if (left.aborted) giveUp();
  try {
    return await Promise.race([something.then(() => "it came" as const), silence]);
  } finally {
    clearTimeout(timer);
    left.removeEventListener("abort", giveUp);
  }
}
