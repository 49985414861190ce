import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/service/config.ts";
import { readJsonValue } from "../../../shared/http/body.ts";
import { finishAnswer, jsonResponse, refuse, streamResponse } from "../../../shared/http/answer.ts";
import { PAGE_POLICY } from "../../../shared/http/page_routes.ts";
import type { Connection } from "../../../shared/http/connection.ts";
import { createService } from "../../../shared/http/service.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { connectRaw } from "../../fakes/raw_client.ts";
import { about, routesOf } from "../../fakes/routes.ts";
import { until } from "../../fakes/until.ts";

interface SendingServer extends AsyncDisposable {
  url: string;
  /** Why answers were cut. */
  failures: Error[];
}

/** A server that answers with what it is given, on a real socket. */
function serving(
  answer: (request: Request) => Response | Promise<Response>,
  { stallMs = 60_000, readTimeoutMs = 60_000 } = {},
): SendingServer {
  const failures: Error[] = [];
  const ending = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: ending.signal, onListen() {} },
    async (request) => {
      const onCut = (error: unknown) => void failures.push(error as Error);
      return await finishAnswer(await answer(request), { request, onCut, stallMs, readTimeoutMs });
    },
  );
  return {
    failures,
    url: `http://127.0.0.1:${server.addr.port}`,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await server.finished;
    },
  };
}

/** A stream as a route answers it. */
const streamed = (body: ReadableStream) => streamResponse(body, {});

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("a complete answer is sent with its length, status and headers", async () => {
  await using server = serving(() =>
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
    await using server = serving(() => jsonResponse({ a: text }, { headers: { "x-own": "1" } }));
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
  await using server = serving(() => Response.json(long, { headers: { vary: "origin" } }));
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
  await using short = serving(() => Response.json({ a: 1 }));
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

Deno.test("no kind of answer is compressed by Deno, whatever its route says about caches", async () => {
  const text = "the same words again ".repeat(5_000);
  const kinds: Record<string, () => Response> = {
    "a whole text": () => new Response(text),
    "one that may be kept": () => new Response(text, { headers: { "cache-control": "public" } }),
    "a stream": () => streamed(new Response(text).body!),
    "JSON that is too long for gzip": () => Response.json(text.repeat(50)),
  };
  for (const [what, answer] of Object.entries(kinds)) {
    await using server = serving(answer);
    const raw = await readRaw(server.url, "br, gzip");
    assertMatch(raw, /cache-control: (public, )?no-transform\r\n/, what);
    assert(!raw.includes("content-encoding"), what);
    assert(raw.length > text.length, what);
  }
});

Deno.test("an answer without a body, and one to HEAD, have none", async () => {
  await using server = serving(() => new Response(null, { status: 204 }));
  const response = await fetch(server.url);
  assertEquals([response.status, await response.text()], [204, ""]);
  await using other = serving(() => new Response("four"));
  const head = await fetch(other.url, { method: "HEAD" });
  assertEquals([head.headers.get("content-length"), await head.text()], ["4", ""]);
});

Deno.test("the head of a stream does not wait for its first piece, nor a piece for the next", async () => {
  const pieces = new TransformStream<Uint8Array<ArrayBuffer>>();
  const writer = pieces.writable.getWriter();
  await using server = serving(() => streamed(pieces.readable));
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
    await using server = serving(() => streamed(endless()));
    const head = await fetch(server.url, { method: "HEAD" });
    assertEquals([head.status, await head.text()], [200, ""]);
    await cancelled.promise;
  }
});

Deno.test("the body for a client that has left before it was made is cancelled", async () => {
  let isCancelled = false;
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await using server = serving(async () => {
    asked.resolve();
    await gone.promise;
    return streamed(new ReadableStream({ cancel: () => void (isCancelled = true) }));
  });
  const leaving = new AbortController();
  const response = fetch(server.url, { signal: leaving.signal }).catch(() => {});
  await asked.promise;
  leaving.abort();
  await response;
  setTimeout(gone.resolve, 50); // the server notices it sooner or later; both are right
  await until(() => isCancelled);
});

Deno.test("a client that leaves cancels the body", async () => {
  let isCancelled = false;
  const endless = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(bytes("first")),
      cancel: () => void (isCancelled = true),
    });
  await using server = serving(() => streamed(endless()));
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
  await using server = serving(() => streamed(endless()));
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

Deno.test("the answer of a client that reads nothing for too long is cut, and its body is cancelled", async () => {
  let isCancelled = false;
  const endless = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
      cancel: () => void (isCancelled = true),
    });
  await using server = serving(() => streamed(endless()), { stallMs: 20 });
  using client = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(server.url).port),
  });
  await client.write(bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  await until(() => isCancelled);
  assertEquals(server.failures.map(({ name }) => name), ["StalledReader"]);
});

Deno.test("a client whose body does not arrive is answered with 408, and not waited for", async () => {
  for (const length of [100, 100_000]) { // one that is read in a piece, and one that is streamed
    await using server = serving(
      (request) =>
        readJsonValue(request, { maxBytes: 1e6, timeoutMs: 20 }).then(Response.json, refuse),
      { readTimeoutMs: 20 },
    );
    using client = await connectRaw(server.url);
    const head = "POST / HTTP/1.1\r\nHost: a\r\ncontent-type: application/json\r\n";
    await client.say(`${head}content-length: ${length}\r\n\r\n{"mess`);
    await until(() => client.text.includes('"code":"request_timeout"'));
    assertStringIncludes(client.text, "HTTP/1.1 408");
  }
});

Deno.test("a whole answer of many pieces arrives as it is, and to HEAD only its length", async () => {
  const whole = Uint8Array.from({ length: 3_000_001 }, (_, index) => index % 251);
  await using server = serving(() => new Response(whole));
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
  await using server = serving(() => streamed(failing()));
  const response = await fetch(server.url);
  await assertRejects(() => response.text());
  assertEquals(server.failures.map(({ message }) => message), ["it broke"]);
});

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8";

function serviceOf(environment: Record<string, string> = {}) {
  return createService(
    routesOf({ "GET /": () => Response.json({ name: "index" }), "POST /": () => new Response() }),
    {
      about,
      config: parseConfig(z.object(commonVariables), environment),
      log: silentLogger,
      page: {
        title: "A page",
        scripts: {
          "app.js": 'import{a}from"./chunk-AAAA.js";a(()=>import("./rare-BBBB.js"))',
          "chunk-AAAA.js": "export let a=1",
          "rare-BBBB.js": 'import{a}from"./chunk-AAAA.js";console.log(2)',
        },
        style: "body{}",
      },
    },
  );
}

function ask(service: ReturnType<typeof serviceOf>, path: string, init: RequestInit = {}) {
  return service(new Request(`http://127.0.0.1:8000${path}`, init));
}

/** The addresses of the script and of the style that a shell names. */
function assetsOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
}

Deno.test("GET / answers a browser with the page and a program with JSON", async () => {
  const service = serviceOf();
  const cases: [string | undefined, RegExp][] = [
    [BROWSER, /^text\/html/],
    ["text/html", /^text\/html/],
    ["*/*", /^application\/json/],
    ["application/json", /^application\/json/],
    ["application/json, text/html;q=0.5", /^application\/json/],
    [undefined, /^application\/json/],
  ];
  for (const [accept, expected] of cases) {
    const response = await ask(service, "/", accept ? { headers: { accept } } : {});
    await response.text();
    assertMatch(response.headers.get("content-type") ?? "", expected, accept);
    assertEquals(response.headers.get("vary"), "accept, origin");
  }
});

Deno.test("the page has its own policy, and the JSON beside it keeps the strict one", async () => {
  const service = serviceOf();
  const page = await ask(service, "/ui/some/view?filter=x");
  assertEquals(
    page.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
      "img-src 'self' data:; require-trusted-types-for 'script'; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  );
  assertEquals(page.headers.get("content-security-policy"), PAGE_POLICY);
  const html = await page.text();
  assertEquals(/<script(?![^>]*src=)|\sstyle=|<style|\son\w+=/i.test(html), false, html);
  const json = await ask(service, "/");
  assertStringIncludes(json.headers.get("content-security-policy")!, "default-src 'none'; base");
  await json.text();
});

Deno.test("the shell is asked for each time, and answered with 304 if it is the same", async () => {
  const service = serviceOf();
  for (const path of ["/ui/a", "/docs", "/"]) {
    const headers = { accept: BROWSER };
    const first = await ask(service, path, { headers });
    assertEquals(first.headers.get("cache-control"), "no-cache");
    const etag = first.headers.get("etag")!;
    await first.text();
    const second = await ask(service, path, { headers: { ...headers, "if-none-match": etag } });
    assertEquals([second.status, await second.text()], [304, ""]);
    const other = await ask(service, path, { headers: { ...headers, "if-none-match": '"x"' } });
    assertEquals(other.status, 200);
    await other.text();
  }
});

Deno.test("assets are kept for a year under the hash of their contents, and compressed", async () => {
  const service = serviceOf();
  const assets = assetsOf(await (await ask(service, "/docs")).text());
  assertEquals(assets.length, 3);
  for (const path of assets) {
    assertMatch(path, /^\/assets\/(app\.[\da-f]{16}\.(js|css)|chunk-AAAA\.js)$/);
    const plain = await ask(service, path);
    assertEquals(plain.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assertEquals(plain.headers.get("content-encoding"), null);
    const text = await plain.text();
    const small = await ask(service, path, { headers: { "accept-encoding": "gzip, br" } });
    assertEquals(small.headers.get("content-encoding"), "gzip");
    assertEquals(new TextDecoder().decode(gunzipSync(await small.bytes())), text);
  }
  const gone = await ask(service, "/assets/app.0000000000000000.js");
  assertEquals([gone.status, (await gone.json()).code], [404, "not_found"]);
});

Deno.test("the shell names what its script needs at once, and not what is loaded on demand", async () => {
  const service = serviceOf();
  const html = await (await ask(service, "/ui/any")).text();
  const preloaded = [...html.matchAll(/modulepreload" href="([^"]+)"/g)].map((match) => match[1]);
  assertEquals(preloaded, ["/assets/chunk-AAAA.js"]);
  const rare = await ask(service, "/assets/rare-BBBB.js");
  assertEquals(await rare.text(), 'import{a}from"./chunk-AAAA.js";console.log(2)');
});

Deno.test("the page and what it loads need no key, but the data does", async () => {
  const service = serviceOf({ API_KEYS: "secret" });
  const status = async (path: string, init: RequestInit = {}) => {
    const response = await ask(service, path, init);
    await response.text();
    return response.status;
  };
  const [asset = ""] = assetsOf(await (await ask(service, "/docs")).text());
  assertEquals(await status("/", { headers: { accept: BROWSER } }), 200);
  assertEquals(await status("/ui/x"), 200);
  assertEquals(await status(asset), 200);
  assertEquals(await status("/"), 401);
  assertEquals(await status("/", { method: "POST", headers: { accept: BROWSER } }), 401);
  assertEquals(await status("/", { headers: { "x-api-key": "secret" } }), 200);
});

/** Asks a service on a network, from an address. */
async function statusOf(
  { url, address = "203.0.113.7", environment = {}, headers }: {
    url: string;
    address?: string;
    environment?: Record<string, string>;
    headers: Record<string, string>;
  },
): Promise<number> {
  const service = createService(routesOf({ "POST /": () => new Response("ok") }), {
    about,
    config: parseConfig(z.object(commonVariables), {
      HOST: "0.0.0.0",
      API_KEYS: "none",
      ...environment,
    }),
    log: silentLogger,
  });
  const connection: Connection = { address, onClose: () => {} };
  const response = await service(new Request(url, { method: "POST", headers }), connection);
  await response.text();
  return response.status;
}

Deno.test("the service's own page is allowed under whatever name it was opened", async () => {
  const cases: [string, string, number][] = [
    ["http://assay.example:8000/", "http://assay.example:8000", 200],
    ["http://assay.example:8000/", "HTTP://ASSAY.example:8000", 200],
    ["http://assay.example:8000/", "https://assay.example:8000", 403],
    ["http://assay.example:8000/", "http://assay.example:8001", 403],
    ["http://assay.example:8000/", "http://evil.example", 403],
    ["http://assay.example:8000/", "null", 403],
  ];
  for (const [url, origin, expected] of cases) {
    assertEquals(await statusOf({ url, headers: { origin } }), expected, origin);
  }
});

Deno.test("behind a trusted proxy the page's public name is its origin; others cannot name it", async () => {
  const url = "http://127.0.0.1:8000/";
  const headers = {
    origin: "https://assay.example",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "assay.example",
  };
  const environment = { TRUSTED_PROXIES: "10.0.0.1" };
  const viaProxy = { url, environment, address: "10.0.0.1" };
  assertEquals(await statusOf({ ...viaProxy, headers }), 200);
  assertEquals(await statusOf({ ...viaProxy, address: "::ffff:10.0.0.1", headers }), 200);
  assertEquals(await statusOf({ url, environment, headers }), 403, "an address that is no proxy");
  assertEquals(await statusOf({ url, address: "10.0.0.1", headers }), 403, "no trusted proxies");
  const other = { ...headers, origin: "https://evil.example" };
  assertEquals(await statusOf({ ...viaProxy, headers: other }), 403);
  const kept = { origin: "https://assay.example", "x-forwarded-proto": "https" };
  const named = { ...viaProxy, url: "http://assay.example/" };
  assertEquals(await statusOf({ ...named, headers: kept }), 200, "the proxy keeps the host");
  for (const [port, expected] of [["443", 200], ["80", 403], ["8443", 403]] as const) {
    const withPort = { ...headers, "x-forwarded-host": `assay.example:${port}` };
    assertEquals(await statusOf({ ...viaProxy, headers: withPort }), expected, port);
  }
  const plain = {
    origin: "http://assay.example",
    "x-forwarded-proto": "http",
    "x-forwarded-host": "assay.example:80",
  };
  assertEquals(await statusOf({ ...viaProxy, headers: plain }), 200, "HTTP with its port");
  const forged = { ...headers, "x-forwarded-host": "evil.example, assay.example" };
  assertEquals(await statusOf({ ...viaProxy, headers: forged }), 200, "the proxy's value is last");
});
