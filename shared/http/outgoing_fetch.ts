import { createYielder } from "../service/waiting.ts";
import type { Transform } from "node:stream";

/** An answer that is longer than any real one. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

/** More than the longest answer of any model, with all its log probabilities. */
export const MAX_ANSWER_MB = 32;

const MAX_REDIRECTS = 5;

/**
 * The `fetch` of every call that leaves the service. It
 * - sends the user name and password of an address as a header;
 * - asks for an answer that is not packed, unpacks one that is, and limits its length;
 * - follows redirects within the origin, with method and body, and hands back any other redirect:
 *   the credential is for that origin only. The last redirect of a circle is handed back with the
 *   path `/` as its `location`. With `redirect: "manual"` it follows none.
 *
 * A body must be a string or absent.
 */
export function createOutgoingFetch(options: {
  /** `createPublicFetch()` for addresses that callers choose; unset: Deno's own `fetch`. */
  connect?: typeof fetch;
  /** Limit of an answer, unpacked: reading on then throws `AnswerTooLarge` and closes the connection. */
  maxBytes?: number;
  /** The `traceparent` to send; see `callersTraceparent`. */
  traceparent?: (() => string | undefined) | undefined;
} = {}): typeof fetch {
  const { connect = fetchOnce, maxBytes = MAX_ANSWER_MB * 1024 * 1024, traceparent } = options;
  return async (input: URL | RequestInfo, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("accept-encoding", "identity");
    const trace = traceparent?.();
    if (trace !== undefined) headers.set("traceparent", trace);
    const sent = { ...init, headers, redirect: "manual" as const };
    let url = moveUserInfo(input instanceof Request ? input.url : String(input), headers);
    for (let hop = 0;; hop++) {
      const response = await connect(url, sent);
      const next = init.redirect === "manual" ? undefined : redirectWithin(url, response);
      if (next === undefined) return boundAnswer(unpack(response), { maxBytes, ...init });
      await response.body?.cancel();
      if (hop === MAX_REDIRECTS) {
        return new Response(null, { status: response.status, headers: { location: "/" } });
      }
      url = next;
    }
  };
}

/**
 * The address without its user name and password, which become a header, as `fetch` would send them:
 * Deno's own spans have the whole address.
 */
function moveUserInfo(address: string, headers: Headers): string {
  const url = new URL(address);
  const { username, password } = url;
  if (username === "" && password === "") return address;
  const credential = [username, password].map(decodeURIComponent).join(":");
  headers.set("authorization", `Basic ${new TextEncoder().encode(credential).toBase64()}`);
  url.username = url.password = "";
  return url.href;
}

/** Where a redirect leads, if that is in the same origin. */
function redirectWithin(url: string, { status, headers }: Response): string | undefined {
  const location = headers.get("location");
  if (status < 300 || status > 399 || location === null) return undefined;
  const next = URL.parse(location, url);
  return next?.origin === new URL(url).origin ? next.href : undefined;
}

/** An answer whose reading ends at `maxBytes`. One that declares a smaller length is left as it is. */
export function boundAnswer(
  response: Response,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal | null | undefined },
): Response {
  const { body, headers, status, statusText } = response;
  const length = headers.get("content-length");
  if (!body || length !== null && Number(length) <= maxBytes) return response;
  // With the signal: Deno's own (2.9.5) is lost with the first response when that is collected,
  // and a read of the second would then never settle.
  const reader = bufferedReader(body);
  const bounded = reader
    ? boundBytes(reader, { maxBytes, signal })
    : body.pipeThrough(limitBytes(maxBytes), signal ? { signal } : {});
  return new Response(bounded, { status, statusText, headers });
}

const BUFFER_BYTES = 16 * 1024;

/**
 * Reads into one buffer, which takes a third of the time for many pieces. A piece holds no more
 * memory than its bytes, also if a server sends sixty at a time.
 */
function boundBytes(
  reader: ReadableStreamBYOBReader,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal | null | undefined },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      const end = () => {
        controller.error(signal!.reason);
        reader.cancel(signal!.reason).catch(() => {});
      };
      if (signal?.aborted) end();
      else signal?.addEventListener("abort", end, { once: true });
    },
    async pull(controller) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) {
        controller.close();
        controller.byobRequest?.respond(0); // otherwise a waiting read would not end
        return;
      }
      if ((bytes += value.byteLength) > maxBytes) {
        const error = tooLarge(maxBytes);
        reader.cancel(error).catch(() => {});
        throw error;
      }
      controller.enqueue(value.slice());
      buffer = value.buffer;
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function tooLarge(maxBytes: number): AnswerTooLarge {
  return new AnswerTooLarge(`the answer is over ${maxBytes} bytes`);
}

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk: Uint8Array<ArrayBuffer>, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      controller.enqueue(chunk);
    },
  });
}

/**
 * Deno's own `fetch` (2.9.5) sends a request whose connection is reset a second time by itself, and a
 * model would be paid twice. It cannot repeat a `Blob`, and unlike a stream a `Blob` is sent with its
 * length.
 */
const fetchOnce: typeof fetch = (input: URL | RequestInfo, init?: RequestInit) => {
  const body = init?.body;
  return fetch(input, typeof body === "string" ? { ...init, body: new TextBlob(body) } : init);
};

/** A plain `Blob` passes its text to the runtime and back, which takes a tenth of an agent's run. */
class TextBlob extends Blob {
  readonly #bytes: Uint8Array<ArrayBuffer>;

  constructor(text: string) {
    super();
    this.#bytes = new TextEncoder().encode(text);
  }

  override get size(): number {
    return this.#bytes.byteLength;
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const bytes = this.#bytes;
    return new ReadableStream({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    });
  }
}

type Encoding = "gzip" | "br" | "deflate" | "zstd";

type Zlib = typeof import("node:zlib");

/** `start` are the first bytes of the answer: `deflate` is the name of two formats. */
const DECODERS: Record<Encoding, (zlib: Zlib, start: Uint8Array) => Transform> = {
  gzip: (zlib) => zlib.createGunzip(),
  br: (zlib) => zlib.createBrotliDecompress(),
  deflate: (zlib, start) => isZlib(start) ? zlib.createInflate() : zlib.createInflateRaw(),
  zstd: (zlib) => zlib.createZstdDecompress(),
};

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * An answer without its `content-encoding`. Servers behind a compressing proxy send one although the
 * request asks for none. It is unpacked only as far as it is read: a few bytes may unpack to
 * gigabytes. Reading throws a `SyntaxError` if the bytes are not in the named encoding.
 */
function unpack(response: Response): Response {
  const { body, status, statusText } = response;
  const named = response.headers.get("content-encoding")?.trim().toLowerCase();
  if (!body || named === undefined || !Object.hasOwn(DECODERS, named)) return response;
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length"); // that of the packed bytes
  return new Response(unpackedStream(body, named as Encoding), { status, statusText, headers });
}

function unpackedStream(body: ReadableStream<Bytes>, encoding: Encoding): ReadableStream<Bytes> {
  const reader = body.getReader();
  const chunks = decode(reader, encoding);
  const yieldIfDue = createYielder(); // unpacking waits for no I/O
  return new ReadableStream<Bytes>({
    async pull(controller) {
      await yieldIfDue();
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    // Not through the generator: it would wait for the next bytes, which may never come.
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

async function* readAll(reader: ReadableStreamDefaultReader<Bytes>): AsyncGenerator<Bytes> {
  for (let next; !(next = await reader.read()).done;) yield next.value;
}

async function* decode(
  reader: ReadableStreamDefaultReader<Bytes>,
  encoding: Encoding,
): AsyncGenerator<Bytes> {
  // Loaded on demand: most answers are not encoded, and loading takes 20 ms.
  const [{ Readable }, zlib] = await Promise.all([import("node:stream"), import("node:zlib")]);
  const source = Readable.from(readAll(reader));
  const start: Uint8Array | null = await new Promise((resolve, reject) => {
    source.once("error", reject);
    source.once("readable", () => resolve(source.read()));
  });
  if (start === null) return;
  source.unshift(start);
  const decoder = DECODERS[encoding](zlib, start);
  source.on("error", (error) => decoder.destroy(error));
  try {
    yield* source.pipe(decoder);
  } catch (error) {
    if (source.errored) throw error;
    throw new SyntaxError(`the answer is not valid ${encoding}`, { cause: error });
  } finally {
    source.destroy();
    decoder.destroy();
    reader.cancel().catch(() => {});
  }
}

/** The zlib format (RFC 1950); without its two bytes it is raw deflate, which some servers send. */
function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

/** `https://host/v1?key=…` and `/models` → `https://host/v1/models?key=…`: a query stays a query. */
export function extendAddress(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

/**
 * The bytes of a body as they arrive. The next piece overwrites a piece, so use it at once. Without a
 * buffer of its own a reader gets a new one of 64 kB for each piece and takes three times as long.
 */
export async function* readPieces(body: ReadableStream<Bytes>): AsyncGenerator<Bytes> {
  const reader = bufferedReader(body);
  if (!reader) return yield* body;
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  try {
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return;
      yield value;
      buffer = value.buffer;
    }
  } finally {
    reader.cancel().catch(() => {}); // no effect on a body that has ended
  }
}

/** `undefined` for a stream that brings its own buffers, such as that of an unpacked body. */
function bufferedReader(
  body: ReadableStream<Bytes>,
): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return undefined;
    throw error;
  }
}
