import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { headerPairs } from "../router/headers.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const pack = promisify(gzip);

/** In characters. Longer texts are sent in pieces, as any other body. */
const SHORT_TEXT = 64 * 1024;

const shortTexts = new WeakMap<Response, string>();

/**
 * Like `Response.json`, but faster for short answers: `sendResponse` gets their text directly and
 * need not read it back from a stream.
 */
export function jsonResponse(
  value: unknown,
  { headers = {} }: { headers?: Record<string, string> } = {},
): Response {
  const text = JSON.stringify(value);
  const response = new Response(text, {
    headers: { "content-type": "application/json", ...headers },
  });
  if (text.length <= SHORT_TEXT) shortTexts.set(response, text);
  return response;
}

/** Created once: every answer ends with it, and creating one takes some 5 µs. */
const LEFT = new DOMException("the connection is closed", "AbortError");

/** How long a client may read nothing before it is disconnected. */
const STALL_MS = 60_000;
/** A whole answer is written in pieces of this size: whether a client reads shows between them. */
const PIECE_BYTES = 256 * 1024;

/**
 * Sends an answer, and cancels its body when the client leaves. The head and the part of the body
 * that is ready leave in one write, with the length if the body is complete. If no part is ready, the
 * head is sent alone. (The server's library would send the head of a stream by itself, half a
 * millisecond before the first token.) A client that reads nothing for `stallMs` is disconnected.
 * Throws what the body throws; a client that has the head by then sees that the answer is incomplete.
 */
export async function sendResponse(
  response: Response,
  outgoing: ServerResponse,
  { stallMs = STALL_MS }: { stallMs?: number } = {},
): Promise<void> {
  const text = shortTexts.get(response);
  if (text !== undefined) return sendText(text, { response, outgoing, stallMs });
  const { status, body } = response;
  if (outgoing.destroyed) { // the client has left: "close" will not come again
    await body?.cancel().catch(() => {});
    return;
  }
  const headers = Object.fromEntries(headerPairs(response.headers));
  if (!body) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  outgoing.on("error", () => {}); // a broken socket also emits "close"
  const reader = (body as ReadableStream<Bytes>).getReader();
  const left = new AbortController();
  outgoing.once("close", () => {
    left.abort(LEFT);
    reader.cancel().catch(() => {});
  });
  try {
    let next = reader.read();
    const first = await ifReady(next);
    if (first?.value) {
      next = reader.read();
      if ((await ifReady(next))?.done) {
        const { bytes, ...coding } = await compress(first.value, { headers, outgoing });
        outgoing.writeHead(status, { ...headers, ...coding, "content-length": bytes.byteLength });
        const last = outgoing.req.method === "HEAD"
          ? ""
          : await writePieces(bytes, { outgoing, signal: left.signal, stallMs });
        end(outgoing, { last, stallMs });
        return;
      }
    }
    outgoing.writeHead(status, headers);
    if (outgoing.req.method === "HEAD") {
      outgoing.end();
      await reader.cancel().catch(() => {});
      return;
    }
    if (first?.value) outgoing.write(first.value);
    else outgoing.flushHeaders();
    for (;;) {
      const { done, value } = await next;
      if (done || left.signal.aborted) break;
      if (!outgoing.write(value)) await drained(outgoing, { signal: left.signal, stallMs });
      next = reader.read();
    }
    end(outgoing, { stallMs });
  } catch (error) {
    if (left.signal.aborted) return;
    if (outgoing.headersSent) outgoing.destroy();
    throw error;
  }
}

/** Shorter texts fit into a few packets as they are. */
const SHORTEST_COMPRESSED = 4 * 1024;
/** Compressing longer ones takes longer than a nearby client needs to read them. */
const LONGEST_COMPRESSED = 4 * 1024 * 1024;

/** Compresses complete JSON for clients that accept gzip, in another thread. */
async function compress(
  bytes: Bytes,
  { headers, outgoing: { req } }: {
    headers: Record<string, string>;
    outgoing: ServerResponse;
  },
): Promise<{ bytes: Bytes; "content-encoding"?: string; vary?: string }> {
  const isJson = String(headers["content-type"]).startsWith("application/json");
  const { byteLength } = bytes;
  if (!isJson || byteLength < SHORTEST_COMPRESSED || byteLength > LONGEST_COMPRESSED) {
    return { bytes };
  }
  const vary = [headers.vary, "accept-encoding"].filter(Boolean).join(", ");
  const isAccepted = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(
    String(req.headers["accept-encoding"] ?? ""),
  );
  if (!isAccepted) return { bytes, vary };
  return { bytes: new Uint8Array(await pack(bytes)), "content-encoding": "gzip", vary };
}

function sendText(
  text: string,
  { response, outgoing, stallMs }: {
    response: Response;
    outgoing: ServerResponse;
    stallMs: number;
  },
): void {
  if (outgoing.destroyed) return;
  outgoing.on("error", () => {});
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(headerPairs(response.headers)),
    "content-length": Buffer.byteLength(text),
  });
  end(outgoing, { last: outgoing.req.method === "HEAD" ? "" : text, stallMs });
}

/** A client that does not take what the system could not take at once is cut off. */
function end(
  outgoing: ServerResponse,
  { last = "", stallMs }: { last?: Bytes | string; stallMs: number },
): void {
  outgoing.end(last);
  if (outgoing.writableFinished) return;
  const timer = setTimeout(() => outgoing.destroy(), stallMs);
  outgoing.once("close", () => clearTimeout(timer));
}

/** Writes all but the last piece, which it returns. */
async function writePieces(
  bytes: Bytes,
  { outgoing, ...limits }: { outgoing: ServerResponse; signal: AbortSignal; stallMs: number },
): Promise<Bytes> {
  let rest = bytes;
  while (rest.byteLength > PIECE_BYTES) {
    if (!outgoing.write(rest.subarray(0, PIECE_BYTES))) await drained(outgoing, limits);
    rest = rest.subarray(PIECE_BYTES);
  }
  return rest;
}

async function drained(
  outgoing: ServerResponse,
  { signal, stallMs }: { signal: AbortSignal; stallMs: number },
): Promise<void> {
  const timer = setTimeout(() => outgoing.destroy(), stallMs);
  try {
    await once(outgoing, "drain", { signal });
  } finally {
    clearTimeout(timer);
  }
}

/** Enough for a chunk that only has to pass through a few streams. */
const MICROTASKS = 32;

/** The value of a promise if it is already settled. */
async function ifReady<T>(promise: Promise<T>): Promise<T | undefined> {
  let isReady = false;
  const settle = () => void (isReady = true);
  promise.then(settle, settle);
  for (let turn = 0; turn < MICROTASKS && !isReady; turn++) await null;
  return isReady ? await promise : undefined;
}
