import { assert, assertEquals, assertRejects } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { jsonResponse } from "../../../shared/http/body/json_response.ts";
import { sendResponse } from "../../../shared/http/server/send_response.ts";
import { until } from "../../fakes/until.ts";

interface SendingServer extends AsyncDisposable {
  url: string;
  /** What the sending threw. */
  failures: Error[];
  /** Settles when the first answer is sent or its connection is cut. */
  closed: Promise<void>;
}

/** A server that sends what it is given, on a real socket. */
async function serving(
  answer: () => Response | Promise<Response>,
  options: { stallMs?: number } = {},
): Promise<SendingServer> {
  const failures: Error[] = [];
  const closed = Promise.withResolvers<void>();
  const server = createServer(async (_, outgoing) => {
    outgoing.once("close", () => closed.resolve());
    await sendResponse(await answer(), outgoing, options).catch((error) => failures.push(error));
    if (!outgoing.headersSent) outgoing.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    failures,
    closed: closed.promise,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("a complete answer is sent with its length, status and headers", async () => {
  await using server = await serving(() =>
    Response.json({ a: "é" }, { status: 418, headers: { "x-own": "1" } })
  );
  const response = await fetch(server.url);
  assertEquals(response.status, 418);
  assertEquals(response.headers.get("content-length"), "10");
  assertEquals(response.headers.get("x-own"), "1");
  assertEquals(await response.json(), { a: "é" });
});

Deno.test("an answer of jsonResponse is sent with its length and headers, short and long", async () => {
  for (const text of ["é", "é".repeat(100_000)]) {
    await using server = await serving(() =>
      jsonResponse({ a: text }, { headers: { "x-own": "1" } })
    );
    const length = String(bytes(JSON.stringify({ a: text })).byteLength);
    for (const method of ["GET", "HEAD"]) {
      const response = await fetch(server.url, {
        method,
        headers: { "accept-encoding": "identity" },
      });
      const { headers } = response;
      assertEquals([headers.get("content-type"), headers.get("x-own")], ["application/json", "1"]);
      assertEquals(headers.get("content-length"), length);
      const body = await response.text();
      assertEquals(body, method === "HEAD" ? "" : JSON.stringify({ a: text }));
    }
  }
});

Deno.test("complete JSON is compressed for clients that take gzip, unless it is short", async () => {
  const long = { text: "the same words again ".repeat(5_000) };
  await using server = await serving(() => Response.json(long, { headers: { vary: "origin" } }));
  for (const accepted of ["identity", "gzip;q=0", "gzip"]) {
    const response = await fetch(server.url, { headers: { "accept-encoding": accepted } });
    assertEquals(await response.json(), long);
    assertEquals(response.headers.get("vary"), "origin, accept-encoding");
    const isPacked = (await readRaw(server.url, accepted)).includes("content-encoding");
    assertEquals(isPacked, accepted === "gzip", accepted);
  }
  const raw = await readRaw(server.url, "deflate, gzip");
  assert(raw.includes("content-encoding: gzip"));
  assert(raw.length < 3_000, `${raw.length} bytes`);
  await using short = await serving(() => Response.json({ a: 1 }));
  assert(!(await readRaw(short.url, "gzip")).includes("content-encoding"));
});

/** A whole answer as it comes from the socket, one character per byte. */
async function readRaw(url: string, accepted: string): Promise<string> {
  const { port } = new URL(url);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  await connection.write(bytes(
    `GET / HTTP/1.1\r\nhost: localhost\r\naccept-encoding: ${accepted}\r\nconnection: close\r\n\r\n`,
  ));
  let text = "";
  const buffer = new Uint8Array(65_536);
  for (let count = await connection.read(buffer); count; count = await connection.read(buffer)) {
    text += String.fromCharCode(...buffer.subarray(0, count));
  }
  return text;
}

Deno.test("an answer without a body, and one to HEAD, have none", async () => {
  await using server = await serving(() => new Response(null, { status: 204 }));
  const response = await fetch(server.url);
  assertEquals([response.status, await response.text()], [204, ""]);
  await using other = await serving(() => new Response("four"));
  const head = await fetch(other.url, { method: "HEAD" });
  assertEquals([head.headers.get("content-length"), await head.text()], ["4", ""]);
});

Deno.test("the head of a stream does not wait for its first piece, nor a piece for the next", async () => {
  const pieces = new TransformStream<Uint8Array<ArrayBuffer>>();
  const writer = pieces.writable.getWriter();
  await using server = await serving(() => new Response(pieces.readable));
  const response = await fetch(server.url); // nothing is written yet
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (const piece of ["one", "two"]) {
    await writer.write(bytes(piece));
    assertEquals((await reader.read()).value, piece);
  }
  await writer.close();
  assert((await reader.read()).done);
});

Deno.test("HEAD is answered without a body, also if the body has no end", async () => {
  for (const pieces of [[], ["first"]]) {
    const cancelled = Promise.withResolvers<void>();
    const endless = () =>
      new ReadableStream({
        start: (controller) => pieces.forEach((piece) => controller.enqueue(bytes(piece))),
        cancel: () => cancelled.resolve(),
      });
    await using server = await serving(() => new Response(endless()));
    const head = await fetch(server.url, { method: "HEAD" });
    assertEquals([head.status, await head.text()], [200, ""]);
    await cancelled.promise;
  }
});

Deno.test("the body for a client that has left before it was made is cancelled", async () => {
  let isCancelled = false;
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await using server = await serving(async () => {
    asked.resolve();
    await gone.promise;
    return new Response(new ReadableStream({ cancel: () => void (isCancelled = true) }));
  });
  const leaving = new AbortController();
  const response = fetch(server.url, { signal: leaving.signal }).catch(() => {});
  await asked.promise;
  leaving.abort();
  await response;
  setTimeout(gone.resolve, 50); // the server hears of it in its own time, and either way is right
  await until(() => isCancelled);
});

Deno.test("a client that leaves cancels the body", async () => {
  let isCancelled = false;
  const endless = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(bytes("first")),
      cancel: () => void (isCancelled = true),
    });
  await using server = await serving(() => new Response(endless()));
  const leaving = new AbortController();
  const response = await fetch(server.url, { signal: leaving.signal });
  await response.body!.getReader().read();
  leaving.abort();
  await until(() => isCancelled);
});

Deno.test("a client that does not read is waited for, and may still leave", async () => {
  let made = 0;
  const cancelled = Promise.withResolvers<void>();
  const most = 64 * 1024 * 1024;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        if ((made += 64 * 1024) > most) controller.error(new Error("nobody waits"));
        else controller.enqueue(new Uint8Array(64 * 1024));
      },
      cancel: () => cancelled.resolve(),
    });
  await using server = await serving(() => new Response(endless()));
  const connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(server.url).port),
  });
  await connection.write(bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  await connection.read(new Uint8Array(1));
  let before = -1;
  while (made !== before) { // until the sockets' own buffers are full
    before = made;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert(made < most, `${made} bytes were made for a reader that read one`);
  connection.close();
  await cancelled.promise;
});

Deno.test("a client that reads nothing for too long is disconnected, and its body is cancelled", async () => {
  let isCancelled = false;
  const endless = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
      cancel: () => void (isCancelled = true),
    });
  await using server = await serving(() => new Response(endless()), { stallMs: 20 });
  using client = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(server.url).port),
  });
  await client.write(bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  await until(() => isCancelled);
});

Deno.test("a client that reads nothing of a whole answer is cut off too", async () => {
  const whole = new Uint8Array(32 * 1024 * 1024);
  await using server = await serving(() => new Response(whole), { stallMs: 20 });
  using client = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(server.url).port),
  });
  await client.write(bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  await server.closed;
  assert((await readAll(client)) < whole.length, "the whole answer was sent");
});

Deno.test("a whole answer of many pieces arrives as it is, and to HEAD only its length", async () => {
  const whole = Uint8Array.from({ length: 3_000_001 }, (_, index) => index % 251);
  await using server = await serving(() => new Response(whole));
  const response = await fetch(server.url);
  assertEquals(response.headers.get("content-length"), "3000001");
  assertEquals(await response.bytes(), whole);
  const head = await fetch(server.url, { method: "HEAD" });
  assertEquals([head.headers.get("content-length"), await head.text()], ["3000001", ""]);
});

Deno.test("a body that fails closes the connection, so that the client knows that it is incomplete", async () => {
  const failing = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(bytes("first")),
      async pull() {
        await new Promise((resolve) => setTimeout(resolve, 1));
        throw new Error("it broke");
      },
    });
  await using server = await serving(() => new Response(failing()));
  const response = await fetch(server.url);
  await assertRejects(() => response.text());
  assertEquals(server.failures.map(({ message }) => message), ["it broke"]);
});

Deno.test("a body that fails before anything is sent can be replaced by another answer", async () => {
  const failing = () =>
    new ReadableStream({ start: (controller) => controller.error(new Error("x")) });
  await using server = await serving(() => new Response(failing()));
  const response = await fetch(server.url);
  assertEquals([response.status, await response.text()], [500, ""]);
  assertEquals(server.failures.length, 1);
});

/** How many bytes a connection still has. */
async function readAll(connection: Deno.Conn): Promise<number> {
  let length = 0;
  for await (const piece of connection.readable) length += piece.length;
  return length;
}
