import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { AppError, ClientLeft } from "../../../shared/errors.ts";
import { readJson } from "../../../shared/http/body/body.ts";
import { readBodyPieces } from "../../../shared/http/body/body_text.ts";

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
