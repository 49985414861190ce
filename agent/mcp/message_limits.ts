import { boundAnswer } from "../../shared/http/fetch/outgoing_fetch.ts";

/** Limit of one message of a server, also of a tool's result. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Limit of a server's notifications and requests in one window of time. */
const MAX_UNSOLICITED = 1_000;
const WINDOW_MS = 10_000;

/** Gets the reason why the session ends. */
export type OnBreach = (reason: string) => void;

/** Counts the messages of a server. Calls `onBreach` once if it sends too many unasked. */
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
    onBreach(`it sent over ${MAX_UNSOLICITED} notifications and requests in ${WINDOW_MS / 1000} s`);
  };
}

/**
 * A `fetch` for a server's messages. The limit applies to a whole answer. A stream of events may be
 * endless, so there it applies to each event, and a longer one calls `onBreach`.
 */
export function createMessageFetch(
  fetch: typeof globalThis.fetch,
  { onBreach, maxBytes = MAX_MESSAGE_BYTES }: { onBreach: OnBreach; maxBytes?: number },
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.includes("text/event-stream");
    if (!isStream || !response.body) {
      return boundAnswer(response, { maxBytes, ...init });
    }
    const { status, statusText, headers, body } = response;
    const events = body.pipeThrough(limitEvents(maxBytes, onBreach), signalOf(init));
    return new Response(events, { status, statusText, headers });
  };
}

/** `pipeThrough` needs the signal for the same reason as in `boundAnswer`. */
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
