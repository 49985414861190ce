import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { z } from "zod";
import { AppError, ClientLeft } from "../../../shared/service/errors.ts";
import { readBodyPieces, readJson } from "../../../shared/http/body.ts";
import { isPlainShape } from "../../../shared/service/fields.ts";
import { gatherPieces, streamPieces } from "../../../shared/http/answer.ts";
import { NOT_UTF8 } from "../../../shared/providers/provider.ts";
import { readServerSentEvents } from "../../../shared/providers/server_sent_events.ts";
import { AnswerTooLarge, createOutgoingFetch } from "../../../shared/http/outgoing_fetch.ts";
import { parseJsonAnswer } from "../../../shared/providers/openai_answer.ts";
import { raw, startProviderDouble } from "../../fakes/provider_double.ts";
import { startServiceProcess } from "../../fakes/service_process.ts";

const Schema = z.looseObject({ name: z.string(), items: z.array(z.object({ id: z.string() })) });
const GOOD = JSON.stringify({ name: "é", items: [{ id: "1" }], extra: 1 });

function read(
  body: BodyInit,
  { type = "application/json", maxBytes = 1000, encoding, timeoutMs }: {
    type?: string;
    maxBytes?: number;
    encoding?: string;
    timeoutMs?: number;
  } = {},
) {
  const headers = { "content-type": type, ...(encoding && { "content-encoding": encoding }) };
  return readJson(new Request("http://x/", { method: "POST", headers, body }), Schema, {
    maxBytes,
    ...(timeoutMs && { timeoutMs }),
  });
}

function gzip(body: BodyInit): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Response(body).body!.pipeThrough(new CompressionStream("gzip"));
  return new Response(packed).bytes();
}

async function refusal(...args: Parameters<typeof read>) {
  const error = await assertRejects(() => read(...args), AppError);
  return [error.status, error.code];
}

/** A body whose length is not declared, in pieces. */
function pieces(text: string, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at += size));
    },
  });
}

Deno.test("a JSON body is read, and fields that the schema does not know are kept", async () => {
  const types = ["application/json", "Application/JSON; charset=utf-8", "application/json ; q=1"];
  for (const type of [...types, "application/x+json"]) {
    assertEquals(await read(GOOD, { type }), JSON.parse(GOOD));
  }
});

Deno.test("a character that is split between two pieces is read whole", async () => {
  assertEquals((await read(pieces(GOOD, 1))).name, "é");
});

Deno.test("anything but JSON is refused", async () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "text/json", ""]) {
    assertEquals(await refusal(GOOD, { type }), [415, "unsupported_media_type"]);
  }
});

Deno.test("a body that is not JSON is refused, and so is an empty one", async () => {
  for (const body of ["", "{", "name=x"]) assertEquals(await refusal(body), [400, "invalid_json"]);
});

Deno.test("a body that fails the schema names each field by its path", async () => {
  const body = JSON.stringify({ name: 1, items: [{ id: "1" }, {}] });
  const error = await assertRejects(() => read(body), AppError);
  assertEquals([error.status, error.code], [400, "invalid_request"]);
  assertEquals(error.errors, [
    { path: "name", message: "Invalid input: expected string, received number" },
    { path: "items.1.id", message: "is missing" },
  ]);
  assertStringIncludes(error.message, "name");
});

Deno.test("a body over the limit is refused, whether or not its length is declared", async () => {
  const body = JSON.stringify({ name: "x".repeat(2000), items: [] });
  assertEquals(await refusal(body), [413, "body_too_large"]);
  assertEquals(await refusal(pieces(body, 100)), [413, "body_too_large"]);
});

Deno.test("the limit is the last size that is read", async () => {
  const size = new TextEncoder().encode(GOOD).length;
  assertEquals((await read(GOOD, { maxBytes: size })).name, "é");
  assertEquals(await refusal(GOOD, { maxBytes: size - 1 }), [413, "body_too_large"]);
});

Deno.test("a body that is too long is not read to its end", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(100).fill(32));
    },
  });
  assertEquals(await refusal(endless), [413, "body_too_large"]);
  assertEquals(pulled < 20, true);
});

Deno.test("a gzip body is read", async () => {
  for (const encoding of ["gzip", "GZIP", "x-gzip"]) {
    assertEquals(await read(await gzip(GOOD), { encoding }), JSON.parse(GOOD));
  }
});

Deno.test("a body in another encoding is refused", async () => {
  for (const encoding of ["br", "deflate", "gzip, gzip", "zstd"]) {
    assertEquals(await refusal(GOOD, { encoding }), [415, "unsupported_media_type"]);
  }
});

Deno.test("a gzip body of several members is read as one, as gzip itself does", async () => {
  const members = await Promise.all([GOOD.slice(0, 5), GOOD.slice(5)].map(gzip));
  const body = await new Blob(members).bytes();
  assertEquals(await read(body, { encoding: "gzip" }), JSON.parse(GOOD));
  const bytes = ReadableStream.from(Array.from(body, (byte) => Uint8Array.of(byte)));
  assertEquals(await read(bytes, { encoding: "gzip" }), JSON.parse(GOOD));
});

Deno.test("damaged, incomplete and invalid gzip is refused", async () => {
  const packed = await gzip(GOOD);
  const damaged = packed.slice();
  damaged.fill(255, 12, 20);
  const followed = new Blob([packed, "rubbish".repeat(20_000)]);
  for (const body of [GOOD, packed.slice(0, -6), damaged, "x".repeat(1e6), followed]) {
    const options = { encoding: "gzip", maxBytes: 2e6 };
    assertEquals(await refusal(body, options), [400, "invalid_json"]);
  }
  await new Promise((resolve) => setTimeout(resolve, 0)); // after a yield that unpacking left behind
});

Deno.test("unpacking a gzip bomb stops at the limit", async () => {
  const bomb = await gzip(new Uint8Array(50_000_000));
  assertEquals(bomb.length < 60_000, true);
  let unpacked = 0;
  const counting = new Response(bomb).body!.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        unpacked++;
        controller.enqueue(chunk);
      },
    }),
  );
  const options = { encoding: "gzip", maxBytes: 100_000 };
  assertEquals(await refusal(bomb, options), [413, "body_too_large"]);
  assertEquals(await refusal(counting, options), [413, "body_too_large"]);
  assertEquals(unpacked <= 2, true);
});

Deno.test("a body that does not arrive in time is refused, also if it arrives byte by byte", async () => {
  const silent = new ReadableStream<Uint8Array<ArrayBuffer>>({});
  assertEquals(await refusal(silent, { timeoutMs: 20 }), [408, "request_timeout"]);
  let timer: ReturnType<typeof setInterval> | undefined;
  const dripping = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new Uint8Array([32])), 2);
    },
    cancel: () => clearInterval(timer),
  });
  assertEquals(await refusal(dripping, { timeoutMs: 30 }), [408, "request_timeout"]);
});

Deno.test("a body that ends early counts as a client that left, plain or gzip", async () => {
  for (const encoding of ["identity", "gzip"]) {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error("ECONNRESET")),
    });
    await assertRejects(() => read(broken, { encoding }), ClientLeft);
  }
});

Deno.test("bytes that are not UTF-8 are refused", async () => {
  const body = new Uint8Array([...new TextEncoder().encode('{"name": "'), 0xff, 0x22, 0x7d]);
  assertEquals(await refusal(body), [400, "invalid_json"]);
});

Deno.test("of a million invalid fields the first hundred are listed", async () => {
  const body = JSON.stringify({ name: "x", items: new Array(200_000).fill(0) });
  const error = await assertRejects(() => read(body, { maxBytes: 1_000_000 }), AppError);
  assertEquals(error.errors?.length, 100);
});

Deno.test("the event loop runs between the pieces of a body, however long a reader takes for each", async () => {
  const request = new Request("http://x/", { method: "POST", body: pieces("x".repeat(50), 1) });
  let hasRun = false;
  const timer = setTimeout(() => hasRun = true);
  for await (const _ of readBodyPieces(request, { maxBytes: 1000 })) {
    if (hasRun) break;
    const end = performance.now() + 11; // longer than work may block the event loop
    while (performance.now() < end);
  }
  clearTimeout(timer);
  assert(hasRun);
});

Deno.test("the event loop runs while a body is unpacked, also if nothing comes of it", async () => {
  const empty = await gzip("");
  await gzip(GOOD).then((packed) => read(packed, { encoding: "gzip" })); // loads the modules
  let hasRun = false;
  let pulls = 0;
  const members = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (hasRun || pulls++ === 20) return controller.close();
      const end = performance.now() + 11; // longer than work may block the event loop
      while (performance.now() < end);
      controller.enqueue(empty);
    },
  });
  const timer = setTimeout(() => hasRun = true);
  assertEquals(await refusal(members, { encoding: "gzip" }), [400, "invalid_json"]);
  clearTimeout(timer);
  assert(hasRun);
});

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

const HEAD = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
  "x-model-id: demo/assistant\r\nconnection: close\r\n";

/** More than sockets buffer: it can only be sent while the other end reads. */
const BODY = "x".repeat(20_000_000);

const REQUESTS = {
  "its length is declared": `${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`,
  "it comes in chunks": `${HEAD}transfer-encoding: chunked\r\n\r\n${
    BODY.length.toString(16)
  }\r\n${BODY}\r\n0\r\n\r\n`,
};

Deno.test("a client that sends all of a body that is too large reads the answer after it", async (t) => {
  await using agent = await startServiceProcess("agent", {
    environment: { MAX_BODY_BYTES: "100000" },
  });
  const { hostname, port } = new URL(agent.url);
  for (const [what, request] of Object.entries(REQUESTS)) {
    await t.step(what, async () => {
      using connection = await Deno.connect({ hostname, port: Number(port) });
      const bytes = new TextEncoder().encode(request);
      for (let sent = 0; sent < bytes.length;) {
        sent += await connection.write(bytes.subarray(sent)); // throws if the other end has closed
      }
      const answer = await new Response(connection.readable).text();
      assertStringIncludes(answer, "HTTP/1.1 413");
      assertStringIncludes(answer, '"code":"body_too_large"');
    });
  }
});

const LATIN = Uint8Array.from([...new TextEncoder().encode('{"a":"gr'), 0xfc, 0xdf, 0x22, 0x7d]);

const readJsonAnswer = async (response: Response) => parseJsonAnswer(await response.arrayBuffer());

Deno.test("an answer in UTF-8 is read without a mark, also if it contains U+FFFD", async () => {
  for (const value of [{ a: "grüß" }, { a: "\uFFFD" }, "🎈", null]) {
    assertEquals(await readJsonAnswer(Response.json(value)), { value });
  }
  const withMark = new Response("\uFEFF[1]");
  assertEquals(await readJsonAnswer(withMark), { value: [1] });
});

Deno.test("an answer that is not UTF-8 is read with replacement, and marked", async () => {
  assertEquals(await readJsonAnswer(new Response(LATIN)), {
    value: { a: "gr\uFFFD\uFFFD" },
    encoding: NOT_UTF8,
  });
});

Deno.test("an answer that is not JSON is a SyntaxError in any encoding", async () => {
  assertEquals(await readJsonAnswer(new Response("<html>")), undefined);
  assertEquals(await readJsonAnswer(new Response(LATIN.slice(1))), undefined);
});

async function decode(bytes: Uint8Array<ArrayBuffer>, split: number) {
  let invalid = 0;
  const body = new Blob(["data: "]).stream().pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      flush(controller) {
        controller.enqueue(bytes.slice(0, split));
        controller.enqueue(bytes.slice(split));
      },
    }),
  );
  const events = readServerSentEvents(body, { onInvalid: () => invalid++ });
  return { text: (await Array.fromAsync(events)).join(), invalid };
}

Deno.test("a stream is decoded wherever it is split, and reported once if it is not UTF-8", async () => {
  const fine = new TextEncoder().encode("a ü € 🎈 \uFFFD");
  for (let split = 0; split <= fine.length; split++) {
    assertEquals(await decode(fine, split), { text: "a ü € 🎈 \uFFFD", invalid: 0 });
  }
  for (let split = 0; split <= LATIN.length; split++) {
    assertEquals(await decode(LATIN, split), { text: '{"a":"gr\uFFFD\uFFFD"}', invalid: 1 });
  }
  const cut = new TextEncoder().encode("a€").slice(0, -1); // ends within a character
  assertEquals(await decode(cut, 1), { text: "a\uFFFD", invalid: 1 });
});

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const listOf = (values: number) => `[${"0,".repeat(values - 1)}0]`;

Deno.test("JSON has a plain shape up to 200 levels and 500,000 values", () => {
  assertEquals([200, 201, 300].map((levels) => isPlainShape(`${nested(levels)} `)), [
    true,
    false,
    false,
  ]);
  assertEquals([500_000, 500_001].map((values) => isPlainShape(listOf(values))), [true, false]);
  assertEquals(isPlainShape(`[${"[],".repeat(300)}{}]`), true); // side by side is not deep
});

Deno.test("brackets in a string are no levels, also behind a quote that is escaped", () => {
  for (const before of ["", '"', "\\", '\\"', '""']) {
    const text = JSON.stringify({ text: `${before}${nested(300)}`, more: [] });
    assertEquals(isPlainShape(text), true, text.slice(0, 20));
    assertEquals(isPlainShape(`[${text},${nested(300)}]`), false, text.slice(0, 20));
  }
});

Deno.test("a large value leaves in chunks, and arrives whole", async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => ({ index, text: "größe" }));
  const pieces = rows.map((row, index) => `${index === 0 ? "[" : ","}${JSON.stringify(row)}`);
  const response = streamPieces([...pieces, "]"]);
  assertEquals(response.headers.get("content-type"), "application/json");
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of response.body!) chunks.push(chunk);
  assert(chunks.every((chunk) => chunk.byteLength < 200_000), "a chunk is too large");
  assertEquals(JSON.parse(await new Blob(chunks).text()), rows);
});

Deno.test("small pieces are gathered into few, and nothing is lost", async () => {
  const pieces = Array.from({ length: 1000 }, (_, index) => `${index},`.repeat(60));
  const gathered = await Array.fromAsync(gatherPieces(pieces));
  assert(gathered.length < 10, `${gathered.length} pieces`);
  assertEquals(gathered.join(""), pieces.join(""));
});
