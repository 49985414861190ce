import { defined } from "../service/fields.ts";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { AppError, isAbort } from "../service/errors.ts";
import { BODY_TIMEOUT_MS } from "./body.ts";
import { STATUS_TEXT } from "@std/http/status";
import { secureHeaders } from "./headers.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const streams = new WeakSet<Response>();
const shortTexts = new WeakSet<Response>();

/** An answer that is sent piece by piece; see `finishAnswer`. */
export function streamResponse(body: ReadableStream<Bytes>, init: ResponseInit): Response {
  const response = new Response(body, init);
  streams.add(response);
  return response;
}

export const isStream = (response: Response) => streams.has(response);

/** Shorter texts fit into a few packets as they are. */
const SHORTEST_COMPRESSED = 4 * 1024;
/** Compressing longer ones takes longer than a nearby client needs to read them. */
const LONGEST_COMPRESSED = 4 * 1024 * 1024;

/** Like `Response.json`, but if the text is short, its body is not read again before it is sent. */
export function jsonResponse(
  value: unknown,
  { headers = {} }: { headers?: Record<string, string> } = {},
): Response {
  const text = JSON.stringify(value);
  const response = new Response(text, {
    headers: { "content-type": "application/json", ...headers },
  });
  if (text.length < SHORTEST_COMPRESSED / 3) shortTexts.add(response); // in bytes at most three times
  return response;
}

interface FinishOptions {
  request: Request;
  /** Called with what a body throws, and with a `StalledReader`. */
  onCut(error: unknown): void;
  /** How long a client may read nothing of a stream. */
  stallMs: number;
  /** How long the rest of a request's body may take to arrive after its answer; 30 s by default. */
  readTimeoutMs?: number;
}

/** A client that has not read for too long. */
export class StalledReader extends Error {
  override readonly name = "StalledReader";
}

/**
 * The answer as `Deno.serve` gets it. Deno must not compress it: it would do so on the event loop, and
 * keep the pieces of a stream back. Complete JSON is compressed here, in another thread. The body of
 * any other complete answer is not touched: so Deno sends it from one piece of memory.
 */
export async function finishAnswer(
  response: Response,
  { request, ...options }: FinishOptions,
): Promise<Response> {
  const { headers } = response;
  const kept = headers.get("cache-control");
  if (!kept?.includes("no-transform")) {
    headers.set("cache-control", kept ? `${kept}, no-transform` : "no-transform");
  }
  if (streams.has(response)) return await finishStream(response, { request, ...options });
  if (response.status >= 400 && request.body && !request.body.locked) {
    return afterBody(response, { body: request.body, ...options });
  }
  if (shortTexts.has(response) || !isJson(response)) return response;
  return await compress(response, await response.arrayBuffer(), request);
}

const isJson = ({ headers }: Response) =>
  headers.get("content-type")?.startsWith("application/json") === true;

async function finishStream(
  response: Response,
  { request, ...options }: FinishOptions,
): Promise<Response> {
  const reader = (response.body as ReadableStream<Bytes>).getReader();
  const first: ReadableStreamReadResult<Bytes>[] = [];
  if (request.method === "HEAD") {
    reader.cancel().catch(() => {});
    return new Response(null, response);
  }
  if (isJson(response)) { // often it is one piece
    for (let piece = 0; piece < 2; piece++) first.push(await reader.read());
    const [{ value }, last] = first as [ReadableStreamReadResult<Bytes>, typeof first[number]];
    if (last.done) return await compress(response, value?.buffer ?? new ArrayBuffer(0), request);
  }
  return new Response(watched(reader, { first, ...options }), response);
}

const pack = promisify(gzip);

async function compress(
  { status, headers }: Response,
  bytes: ArrayBuffer,
  request: Request,
): Promise<Response> {
  const { byteLength } = bytes;
  if (byteLength < SHORTEST_COMPRESSED || byteLength > LONGEST_COMPRESSED) {
    return new Response(bytes, { status, headers });
  }
  headers.append("vary", "accept-encoding");
  const isAccepted = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(
    request.headers.get("accept-encoding") ?? "",
  );
  if (!isAccepted) return new Response(bytes, { status, headers });
  headers.set("content-encoding", "gzip");
  return new Response(new Uint8Array(await pack(bytes)), { status, headers });
}

/**
 * The rest of a stream. When it fails, or its reader stalls, its source is cancelled. The connection of
 * a reader that stalls stays until that client reads again or a proxy closes it.
 */
function watched(
  reader: ReadableStreamDefaultReader<Bytes>,
  { first, onCut, stallMs }: Pick<FinishOptions, "onCut" | "stallMs"> & {
    first: ReadableStreamReadResult<Bytes>[];
  },
): ReadableStream<Bytes> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream<Bytes>({
    async pull(controller) {
      clearTimeout(timer);
      try {
        const { done, value } = first.shift() ?? await reader.read();
        if (done) return controller.close();
        controller.enqueue(value);
      } catch (error) {
        if (!isAbort(error)) onCut(error);
        throw error;
      }
      timer = setTimeout(() => {
        const error = new StalledReader(`the client has read nothing for ${stallMs} ms`);
        controller.error(error);
        reader.cancel(error).catch(() => {});
        onCut(error);
      }, stallMs);
    },
    cancel(reason) {
      clearTimeout(timer);
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

/**
 * An answer that comes before the body of its request has arrived, such as 413. Deno would close the
 * connection after it, and a client that is still sending would lose it. So it ends only with the
 * body, or when that takes too long.
 */
function afterBody(
  response: Response,
  { body, readTimeoutMs = BODY_TIMEOUT_MS }: Pick<FinishOptions, "readTimeoutMs"> & {
    body: ReadableStream<Bytes>;
  },
): Response {
  const reader = body.getReader();
  async function* pieces() {
    yield new Uint8Array(await response.arrayBuffer());
    const timer = setTimeout(() => reader.cancel().catch(() => {}), readTimeoutMs);
    try {
      while (!(await reader.read()).done);
    } catch {
      // the client has left
    } finally {
      clearTimeout(timer);
    }
  }
  const { status, headers } = response;
  return new Response(ReadableStream.from(pieces()), { status, headers });
}

const CHUNK_CHARACTERS = 64 * 1024;

/**
 * Answers with JSON text in pieces, without having the whole text in memory and without blocking the
 * event loop. No piece may end within a surrogate pair.
 */
export function streamPieces(
  pieces: Iterable<string> | AsyncIterable<string>,
  headers: Record<string, string> = {},
): Response {
  const bytes = ReadableStream.from(encodePieces(pieces));
  return streamResponse(bytes, { headers: { "content-type": "application/json", ...headers } });
}

/** Many small pieces as few large ones, which are cheaper to send. */
export async function* gatherPieces(
  pieces: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  let chunk = "";
  for await (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

async function* encodePieces(pieces: Iterable<string> | AsyncIterable<string>) {
  const encoder = new TextEncoder();
  for await (const chunk of gatherPieces(pieces)) yield encoder.encode(chunk);
}

const INTERNAL = new AppError(500, "internal", "the service failed; its log has the request_id");

/**
 * Describes any error to a caller, as `ProblemDocument`. Only the message of an `AppError` is shown.
 * `detail` is also what clients of FastAPI services read.
 */
export function toProblem(error: unknown, requestId: string) {
  const known = error instanceof AppError ? error : INTERNAL;
  return defined({
    type: "about:blank",
    title: STATUS_TEXT[known.status] ?? "Error",
    status: known.status,
    detail: known.message,
    code: known.code,
    request_id: requestId,
    errors: known.errors,
    provider: known.provider,
  });
}

/** The same as a response, with the headers of the error. */
export function problemResponse(error: unknown, requestId: string): Response {
  const problem = toProblem(error, requestId);
  return Response.json(problem, {
    status: problem.status,
    headers: {
      ...(error instanceof AppError ? error.headers : {}),
      "content-type": "application/problem+json",
    },
  });
}

/** The answer to a request that never reaches the router, with the headers that the router adds. */
export function refuse(error: unknown): Response {
  const requestId = crypto.randomUUID();
  const response = problemResponse(error, requestId);
  response.headers.set("x-request-id", requestId);
  secureHeaders(response.headers);
  return response;
}
