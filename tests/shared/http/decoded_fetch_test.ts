import { assertEquals, assertRejects } from "@std/assert";
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { AnswerTooLarge, createBoundedFetch } from "../../../shared/http/fetch/bounded_fetch.ts";
import { createDecodedFetch, type Encoding } from "../../../shared/http/fetch/decoded_fetch.ts";

const TEXT = "Grüße ".repeat(1000);

/** A `fetch` that answers these bytes with a `content-encoding`. */
function answering(bytes: Uint8Array, encoding: string): typeof fetch {
  const headers = { "content-encoding": encoding, "content-length": `${bytes.length}` };
  return () => Promise.resolve(new Response(new Uint8Array(bytes), { headers }));
}

const ENCODED: [what: string, Encoding, Uint8Array][] = [
  ["gzip", "gzip", gzipSync(TEXT)],
  ["brotli", "br", brotliCompressSync(TEXT)],
  ["deflate as the RFC has it", "deflate", deflateSync(TEXT)],
  ["deflate without its header", "deflate", deflateRawSync(TEXT)],
  ["zstd", "zstd", zstdCompressSync(TEXT)],
];

for (const [what, encoding, bytes] of ENCODED) {
  Deno.test(`an answer in ${what} is decoded, and no longer says that it is encoded`, async () => {
    const response = await createDecodedFetch(answering(bytes, encoding), [encoding])("http://x");
    assertEquals(response.headers.has("content-encoding"), false);
    assertEquals(response.headers.has("content-length"), false);
    assertEquals(await response.text(), TEXT);
  });

  if (encoding === "br") continue; // any bytes may be the start of Brotli
  Deno.test(`an answer that is not ${what} although it says so throws a SyntaxError`, async () => {
    const wrong = new TextEncoder().encode("plain text");
    const response = await createDecodedFetch(answering(wrong, encoding), [encoding])("http://x");
    await assertRejects(() => response.text(), SyntaxError, `not valid ${encoding}`);
  });
}

Deno.test("an encoding that fetch decodes itself is left alone", async () => {
  const response = await createDecodedFetch(answering(gzipSync(TEXT), "gzip"), ["zstd"])(
    "http://x",
  );
  assertEquals(response.headers.get("content-encoding"), "gzip");
  await response.body?.cancel();
});

Deno.test("an answer that grows past the bound is not decoded to its end", async () => {
  const bomb = zstdCompressSync(new Uint8Array(64 * 1024 * 1024));
  const fetch = createBoundedFetch(
    createDecodedFetch(answering(bomb, "zstd"), ["zstd"]),
    1_000_000,
  );
  const response = await fetch("http://x");
  await assertRejects(() => response.text(), AnswerTooLarge);
});

for (const [when, sent] of [["before it is read", 0], ["while it waits for bytes", 10]] as const) {
  Deno.test(`an answer that is cancelled ${when} cancels the body below`, async () => {
    const start = new Uint8Array(zstdCompressSync(TEXT)).subarray(0, sent);
    const cancelled = Promise.withResolvers<unknown>();
    const body = new ReadableStream({
      start: (controller) => sent > 0 ? controller.enqueue(start) : undefined,
      cancel: cancelled.resolve,
    });
    const headers = { "content-encoding": "zstd" };
    const fetch = () => Promise.resolve(new Response(body, { headers }));
    const response = await createDecodedFetch(fetch, ["zstd"])("http://x");
    const reader = response.body!.getReader();
    if (sent > 0) void reader.read();
    await reader.cancel("enough");
    assertEquals(await cancelled.promise, "enough");
  });
}

Deno.test("a connection that breaks within an encoded answer is not taken for wrong bytes", async () => {
  const start = new Uint8Array(gzipSync(TEXT)).subarray(0, 20);
  const pieces = [() => start, () => Promise.reject(new TypeError("connection reset"))];
  const body = new ReadableStream({
    pull: async (controller) => controller.enqueue(await pieces.shift()!()),
  }, { highWaterMark: 0 });
  const headers = { "content-encoding": "gzip" };
  const fetch = () => Promise.resolve(new Response(body, { headers }));
  const response = await createDecodedFetch(fetch, ["gzip"])("http://x");
  await assertRejects(() => response.text(), TypeError, "connection reset");
});
