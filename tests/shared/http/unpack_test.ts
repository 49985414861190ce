import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { AnswerTooLarge, createOutgoingFetch } from "../../../shared/http/fetch/outgoing_fetch.ts";
import { raw, startProviderDouble } from "../../fakes/provider_double.ts";

const TEXT = "Grüße ".repeat(1000);

/** A `fetch` that answers these bytes with a `content-encoding`. */
function answering(bytes: Uint8Array, encoding: string): typeof fetch {
  const headers = { "content-encoding": encoding, "content-length": `${bytes.length}` };
  return () => Promise.resolve(new Response(new Uint8Array(bytes), { headers }));
}

const ENCODED: [what: string, encoding: string, Uint8Array][] = [
  ["gzip", "gzip", gzipSync(TEXT)],
  ["brotli", "br", brotliCompressSync(TEXT)],
  ["deflate as the RFC has it", "deflate", deflateSync(TEXT)],
  ["deflate without its header", "deflate", deflateRawSync(TEXT)],
  ["zstd", "zstd", zstdCompressSync(TEXT)],
];

for (const [what, encoding, bytes] of ENCODED) {
  Deno.test(`an answer in ${what} is decoded, and no longer says that it is encoded`, async () => {
    const response = await createOutgoingFetch({ connect: answering(bytes, encoding) })("http://x");
    assertEquals(response.headers.has("content-encoding"), false);
    assertEquals(response.headers.has("content-length"), false);
    assertEquals(await response.text(), TEXT);
  });

  if (encoding === "br") continue; // any bytes may be the start of Brotli
  Deno.test(`an answer that is not ${what} although it says so throws a SyntaxError`, async () => {
    const wrong = new TextEncoder().encode("plain text");
    const response = await createOutgoingFetch({ connect: answering(wrong, encoding) })("http://x");
    await assertRejects(() => response.text(), SyntaxError, `not valid ${encoding}`);
  });
}

Deno.test("an answer in an encoding that is not known is left as it is", async () => {
  const connect = answering(gzipSync(TEXT), "compress");
  const response = await createOutgoingFetch({ connect })("http://x");
  assertEquals(response.headers.get("content-encoding"), "compress");
  await response.body?.cancel();
});

Deno.test("the limit counts unpacked bytes, over real HTTP, and no more than these are unpacked", async () => {
  const zeros = new Uint8Array(256 * 1024 * 1024);
  const bombs = {
    br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    gzip: gzipSync(zeros),
    zstd: zstdCompressSync(zeros),
  };
  for (const [encoding, bytes] of Object.entries(bombs)) {
    await using double = await startProviderDouble(
      raw(new Uint8Array(bytes), { headers: { "content-encoding": encoding } }),
    );
    const before = Deno.memoryUsage().rss;
    const response = await createOutgoingFetch()(double.baseUrl);
    await assertRejects(() => response.text(), AnswerTooLarge, "over 33554432 bytes", encoding);
    const grown = (Deno.memoryUsage().rss - before) / 1024 / 1024;
    assert(grown < 120, `${encoding}: ${grown} MB`); // 250 and more if all of it is unpacked
    assertEquals(double.requests[0]!.headers.get("accept-encoding"), "identity");
  }
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
    const connect = () => Promise.resolve(new Response(body, { headers }));
    const response = await createOutgoingFetch({ connect })("http://x");
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
  const connect = () => Promise.resolve(new Response(body, { headers }));
  const response = await createOutgoingFetch({ connect })("http://x");
  await assertRejects(() => response.text(), TypeError, "connection reset");
});
