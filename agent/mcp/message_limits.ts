import { boundAnswer } from "../../shared/http/outgoing_fetch.ts";

/** Limit of one message of a server, also of a tool's result. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Limit of a server's notifications and requests in one window of time. */
const MAX_UNSOLICITED = 1_000;
const WINDOW_MS = 10_000;

/** Gets the reason why the session ends. */
export type OnBreach = (reason: string) => void;

/** Counts the messages of a server. Calls `onBreach` once if it sends too many unsolicited ones. */
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
    // With the signal for the same reason as in `boundAnswer`.
    const signal = init?.signal ? { signal: init.signal } : {};
    const events = body.pipeThrough(limitEvents(maxBytes, onBreach), signal);
    return new Response(events, { status, statusText, headers });
  };
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

interface MessageBufferOptions<T> {
  parse: (line: string) => T;
  /** Limit of one message. A longer one calls `onBreach`; what follows it is not read. */
  maxBytes: number;
  onBreach: OnBreach;
}

/**
 * Joins the output of a program to messages, one per line. In place of the SDK's own buffer (2.4.0),
 * which copies and searches a message from its start with each piece of it: one of 7 MB blocks the
 * event loop for seconds. Here each piece is searched once.
 */
export function createMessageBuffer<T>({ parse, maxBytes, onBreach }: MessageBufferOptions<T>) {
  const decoder = new TextDecoder();
  /** Whole lines; those before `next` have been read. */
  let lines: string[] = [];
  let next = 0;
  /** The line so far, in the pieces that it came in. */
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let isOver = false;

  function endLine(): void {
    lines.push(join(pieces, decoder).replace(/\r$/, ""));
    pieces = [];
    bytes = 0;
  }

  return {
    append(chunk: Uint8Array): void {
      if (isOver) return;
      let start = 0;
      for (let end; (end = chunk.indexOf(LF, start)) >= 0; start = end + 1) {
        pieces.push(chunk.subarray(start, end));
        endLine();
      }
      pieces.push(chunk.subarray(start));
      bytes += chunk.length - start;
      if (bytes <= maxBytes) return;
      isOver = true;
      pieces = [];
      onBreach(`it sent a message over ${maxBytes} bytes`);
    },
    /** `null` until there is another line. Throws what `parse` throws. */
    readMessage(): T | null {
      const line = lines[next++];
      if (line !== undefined) return parse(line);
      lines = [];
      next = 0;
      return null;
    },
    clear(): void {
      lines = [];
      pieces = [];
      next = bytes = 0;
    },
  };
}

function join(pieces: Uint8Array[], decoder: TextDecoder): string {
  if (pieces.length === 1) return decoder.decode(pieces[0]);
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}
