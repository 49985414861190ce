import type { z } from "zod";
import { AppError, ClientLeft } from "../service/errors.ts";
import { listFieldErrors } from "../service/field_errors.ts";
import { createYielder } from "../service/waiting.ts";
import { createShapeGauge } from "../service/fields.ts";

/** Reads and validates a JSON body. Throws 400 with the path of each invalid field. */
export async function readJson<T extends z.ZodType>(
  request: Request,
  schema: T,
  limits: BodyLimits,
): Promise<z.output<T>> {
  return checkBody(await readJsonValue(request, limits), schema);
}

/** Reads a JSON body of any shape. */
export async function readJsonValue(request: Request, limits: BodyLimits): Promise<unknown> {
  requireJson(request);
  const text = await readBodyText(request, limits);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError(400, "invalid_json", "cannot read the request body: it is not JSON", {
      cause,
    });
  }
}

/** Validates a body. Throws 400 with the path of each invalid field. */
export function checkBody<T extends z.ZodType>(value: unknown, schema: T): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidBody(result.error, value);
}

/** 400 with the path of each invalid field. */
function invalidBody(error: z.ZodError, value: unknown): AppError {
  const errors = listFieldErrors(error, value);
  const [first] = errors;
  const where = first?.path ? `${first.path}: ${first.message}` : first?.message;
  return new AppError(400, "invalid_request", `cannot use the request body: ${where}`, { errors });
}

/** Only JSON: a page of another origin cannot send it without a preflight. */
function requireJson(request: Request): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json" || /^application\/[\w.-]+\+json$/.test(type)) return;
  throw new AppError(
    415,
    "unsupported_media_type",
    "cannot read the request body: send it with content-type: application/json",
  );
}

export interface BodyLimits {
  /** Limit of the body, as sent and unpacked; it is refused as soon as it is known to be longer. */
  maxBytes: number;
  /** How long the whole body may take to arrive; `BODY_TIMEOUT_MS` if unset. */
  timeoutMs?: number;
  /** What sets `maxBytes`; `MAX_BODY_BYTES` if it is unset. */
  setting?: string;
}

/** How long a body may take to arrive. */
export const BODY_TIMEOUT_MS = 30_000;
/** The same for a file of up to 256 MB. */
export const UPLOAD_TIMEOUT_MS = 600_000;

/** Up to this size a body is read in one piece, which is faster than a stream. */
const SMALL_BYTES = 16 * 1024;

/** Input of one step of unpacking: gzip can expand it a thousand times. */
const UNPACK_STEP_BYTES = 4096;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The text of a request's body, plain or gzip. Throws as `readBodyPieces`, and 400 for JSON that is
 * nested too deeply, because later steps recurse.
 */
async function readBodyText(request: Request, limits: BodyLimits): Promise<string> {
  const shape = createShapeGauge((reason) =>
    new AppError(400, "invalid_json", `cannot read the request body: ${reason}`)
  );
  if (isSmall(request)) {
    const text = await readSmall(request, limits);
    shape.add(text);
    return text;
  }
  let text = "";
  for await (const piece of readBodyPieces(request, limits)) {
    shape.add(piece);
    text += piece;
  }
  return text;
}

/** A body whose length is declared, and enforced by its connection: it needs no stream. */
function isSmall({ headers }: Request): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= SMALL_BYTES && !headers.has("content-encoding");
}

async function readSmall(request: Request, limits: BodyLimits): Promise<string> {
  const { maxBytes, timeoutMs = BODY_TIMEOUT_MS } = limits;
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(limits);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow(timeoutMs)), timeoutMs);
  let bytes: ArrayBuffer;
  try {
    bytes = await Promise.race([request.arrayBuffer(), late.promise]);
  } catch (error) {
    throw error instanceof AppError ? error : new ClientLeft();
  } finally {
    clearTimeout(timer);
  }
  if (bytes.byteLength > maxBytes) throw tooLarge(limits);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw damaged(cause);
  }
}

/**
 * The same text, piece by piece as it arrives. The event loop runs between the pieces, however fast
 * they arrive. Throws 413 for a body over the limit, 408 for one that takes too long, 415 for another
 * encoding, and 400 for bytes that are not UTF-8 or not gzip.
 */
export async function* readBodyPieces(
  request: Request,
  limits: BodyLimits,
): AsyncGenerator<string> {
  const { maxBytes, timeoutMs = BODY_TIMEOUT_MS } = limits;
  const length = Number(request.headers.get("content-length") ?? Infinity);
  if (length !== Infinity && length > maxBytes) throw tooLarge(limits);
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const body = request.body ?? new Blob().stream();
    const arriving = within(body, { limits, signal: late.signal });
    yield* decode(unpack(arriving, encoding), limits);
  } catch (error) {
    if (late.signal.aborted) throw tooSlow(timeoutMs);
    throw error instanceof AppError ? error : new ClientLeft();
  } finally {
    clearTimeout(timer);
  }
}

/** The chunks of a body, up to the limits of size and time. */
async function* within(
  body: ReadableStream<Bytes>,
  { limits, signal }: { limits: BodyLimits; signal: AbortSignal },
): AsyncGenerator<Bytes> {
  const reader = body.getReader();
  signal.addEventListener("abort", () => reader.cancel().catch(() => {}), { once: true });
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      bytes += value.byteLength;
      if (bytes > limits.maxBytes) throw tooLarge(limits);
      yield value;
    }
  } finally {
    reader.releaseLock(); // the server reads on, see `finishAnswer`
  }
}

function unpack(chunks: AsyncGenerator<Bytes>, encoding: string): AsyncIterable<Bytes> {
  if (encoding === "identity") return chunks;
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    throw new AppError(
      415,
      "unsupported_media_type",
      "cannot read the request body: its content-encoding is neither gzip nor identity",
      { headers: { "accept-encoding": "gzip" } },
    );
  }
  return gunzip(chunks);
}

/**
 * Throws a `TypeError` for bytes that are not gzip. `DecompressionStream` would refuse files of
 * several members, such as `cat a.gz b.gz` makes.
 */
async function* gunzip(chunks: AsyncGenerator<Bytes>): AsyncGenerator<Bytes> {
  const yieldIfDue = createYielder();
  async function* steps(): AsyncGenerator<Bytes> {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.byteLength; at += UNPACK_STEP_BYTES) {
        yield chunk.subarray(at, at + UNPACK_STEP_BYTES);
        await yieldIfDue(); // a step may unpack to nothing, so `decode` does not yield for it
      }
    }
  }
  // Loaded on demand: most bodies are plain.
  const [{ pipeline, Readable }, zlib] = await Promise.all([
    import("node:stream"),
    import("node:zlib"),
  ]);
  try {
    yield* pipeline(Readable.from(steps()), zlib.createGunzip(), () => {}); // failures are thrown below
  } catch (error) {
    const isOfZlib = String((error as { code?: unknown }).code).startsWith("Z_");
    if (!isOfZlib) throw error;
    throw new TypeError("the body is not gzip", { cause: error });
  }
}

async function* decode(chunks: AsyncIterable<Bytes>, limits: BodyLimits): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const yieldIfDue = createYielder();
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      if (bytes > limits.maxBytes) throw tooLarge(limits);
      yield decoder.decode(chunk, { stream: true });
      await yieldIfDue();
    }
    yield decoder.decode();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw damaged(cause);
  }
}

function damaged(cause: unknown): AppError {
  return new AppError(
    400,
    "invalid_json",
    "cannot read the request body: it is damaged, or not UTF-8",
    { cause },
  );
}

function tooLarge({ maxBytes, setting = "MAX_BODY_BYTES" }: BodyLimits): AppError {
  return new AppError(
    413,
    "body_too_large",
    `the request body is larger than ${maxBytes} bytes (${setting})`,
  );
}

function tooSlow(timeoutMs: number): AppError {
  return new AppError(
    408,
    "request_timeout",
    `the request body did not arrive within ${timeoutMs / 1000} s`,
    { headers: { connection: "close" } },
  );
}

/** Reads and validates the query parameters of a URL. Throws 400 with the name of each invalid one. */
export function readQuery<T extends z.ZodType>(url: URL, schema: T): z.output<T> {
  return read(Object.fromEntries(url.searchParams), schema, "query");
}

/** The same for the parameters in a path. */
export function readParams<T extends z.ZodType>(
  params: Readonly<Record<string, string>>,
  schema: T,
): z.output<T> {
  return read(params, schema, "path");
}

function read<T extends z.ZodType>(
  values: Readonly<Record<string, string>>,
  schema: T,
  place: "query" | "path",
): z.output<T> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  const errors = listFieldErrors(result.error, values);
  const detail = errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new AppError(400, "invalid_request", `cannot use the ${place}: ${detail}`, { errors });
}
