import { createYielder } from "../../yielder.ts";
import type { Transform } from "node:stream";

type Encoding = "gzip" | "br" | "deflate" | "zstd";

type Zlib = typeof import("node:zlib");

/** By the first bytes of an answer: `deflate` stands for two formats. */
const DECODERS: Record<Encoding, (zlib: Zlib, start: Uint8Array) => Transform> = {
  gzip: (zlib) => zlib.createGunzip(),
  br: (zlib) => zlib.createBrotliDecompress(),
  deflate: (zlib, start) => isZlib(start) ? zlib.createInflate() : zlib.createInflateRaw(),
  zstd: (zlib) => zlib.createZstdDecompress(),
};

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * An answer without its `content-encoding`. Servers behind a compressing proxy send one although the
 * request asks for none. It is unpacked only as far as it is read: a few bytes may stand for
 * gigabytes. Reading throws a `SyntaxError` if the bytes are not in the encoding that they name.
 */
export function unpack(response: Response): Response {
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
  // Only now: most answers are not encoded, and loading these takes 20 ms of a start.
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
