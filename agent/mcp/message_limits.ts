import { createBoundedFetch } from "../../shared/http/bounded_fetch.ts";

/** A message of a server, a tool's result included. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Notifications and requests of a server, which nobody asked for, in one window of time. */
const MAX_UNSOLICITED = 1_000;
const WINDOW_MS = 10_000;

/** Says what a server did that ends its session. */
export type OnBreach = (reason: string) => void;

/** Looks at each message of a server; `onBreach` is called once it sends too many by itself. */
export function createFloodGuard(
  onBreach: OnBreach,
  now: () => number = () => performance.now(),
): (message: unknown) => void {
  let windowEnd = 0;
  let count = 0;
  return (message) => {
    const isAnswer = typeof message === "object" && message !== null && !("method" in message);
    if (isAnswer) return;
    if (now() >= windowEnd) {
      windowEnd = now() + WINDOW_MS;
      count = 0;
    }
    if (++count !== MAX_UNSOLICITED + 1) return;
    onBreach(`it sent over ${MAX_UNSOLICITED} messages in ${WINDOW_MS / 1000} s by itself`);
  };
}

/**
 * A `fetch` for a server's messages. An answer ends at the limit; a stream of events may go on for
 * ever, so there each event has the limit, and one that is longer calls `onBreach`.
 */
export function createMessageFetch(
  fetch: typeof globalThis.fetch,
  { onBreach, maxBytes = MAX_MESSAGE_BYTES }: { onBreach: OnBreach; maxBytes?: number },
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.includes("text/event-stream");
    if (!isStream || !response.body) {
      return await createBoundedFetch(() => Promise.resolve(response), maxBytes)(input, init);
    }
    const { status, statusText, headers, body } = response;
    const events = body.pipeThrough(limitEvents(maxBytes, onBreach), signalOf(init));
    return new Response(events, { status, statusText, headers });
  };
}

/** With the signal, for the reason that `createBoundedFetch` has. */
function signalOf(init: RequestInit | undefined): { signal?: AbortSignal } {
  return init?.signal ? { signal: init.signal } : {};
}

function limitEvents(maxBytes: number, onBreach: OnBreach) {
  let bytes = 0;
  let endsLine = false;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      const end = lastEventEnd(chunk, endsLine);
      bytes = end < 0 ? bytes + chunk.length : chunk.length - end;
      endsLine = isLineEnd(chunk.at(-1)) || chunk.length === 0 && endsLine;
      if (bytes <= maxBytes) return controller.enqueue(chunk);
      const reason = `it sent a message over ${maxBytes} bytes`;
      onBreach(reason);
      throw new Error(reason);
    },
  });
}

const LF = 10;
const CR = 13;
const isLineEnd = (byte: number | undefined) => byte === LF || byte === CR;

/** Where the last blank line of a chunk ends; -1 if it has none. */
function lastEventEnd(chunk: Uint8Array, followsLineEnd: boolean): number {
  for (let at = chunk.length - 1; at >= 0; at--) {
    if (!isLineEnd(chunk[at])) continue;
    const isPair = chunk[at] === LF && chunk[at - 1] === CR; // one line end, of two bytes
    const before = isPair ? at - 2 : at - 1;
    if (before < 0 ? followsLineEnd : isLineEnd(chunk[before])) return at + 1;
  }
  return -1;
}
