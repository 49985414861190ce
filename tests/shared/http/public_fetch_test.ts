import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { untilAbort } from "../../../shared/service/waiting.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { AnswerTooLarge, createOutgoingFetch } from "../../../shared/http/outgoing_fetch.ts";
import {
  createPublicFetch,
  isPublicAddress,
  requirePublicHost,
  type ResolvedAddress,
} from "../../../shared/http/public_fetch.ts";
import {
  json,
  partial,
  type ProviderDouble,
  startProviderDouble,
} from "../../fakes/provider_double.ts";
// the client of public addresses has timers that outlive a test
import { test } from "../../fakes/leaky.ts";

const SECRET = "planted-secret";
const INIT = { method: "POST", headers: { authorization: `Bearer ${SECRET}` }, body: "{}" };

const at = (address: string): ResolvedAddress[] => [{
  address,
  family: address.includes(":") ? 6 : 4,
}];

/** A name that resolves to a public address first, and then to the attacker's choice. */
function rebinding(first: string, later: string) {
  const asked: string[] = [];
  const resolve = (hostname: string) => {
    asked.push(hostname);
    return Promise.resolve(at(asked.length === 1 ? first : later));
  };
  return { asked, resolve };
}

function addressOf(double: ProviderDouble, name: string): string {
  return double.baseUrl.replace("127.0.0.1", name);
}

test("a name that is rebound after its check does not get the secret", async () => {
  await using inside = await startProviderDouble(json({}));
  const url = addressOf(inside, "rebind.example");

  const careless = rebinding("93.184.216.34", "127.0.0.1");
  await requirePublicHost(url, careless.resolve); // the check sees the innocent address …
  const anywhere = createPublicFetch({ resolve: careless.resolve, isPublic: () => true });
  await (await anywhere(url, INIT)).text(); // … and the connection goes to the other one
  assertEquals(inside.requests[0]?.headers.get("authorization"), `Bearer ${SECRET}`);

  const careful = rebinding("93.184.216.34", "127.0.0.1");
  await requirePublicHost(url, careful.resolve);
  const publicOnly = createPublicFetch({ resolve: careful.resolve });
  const error = await assertRejects(() => publicOnly(url, INIT), AppError);
  assertEquals([error.status, error.code], [403, "endpoint_not_allowed"]);
  assertEquals(inside.requests.length, 1, "the second attempt reached the double");
});

test("the address that was checked is the one connected to", async () => {
  await using checked = await startProviderDouble(json({ from: "checked" }));
  // Nothing listens at that address: resolving the name again would fail the call.
  const { asked, resolve } = rebinding("127.0.0.1", "127.0.0.2");
  const pinned = createPublicFetch({ resolve, isPublic: (address) => address === "127.0.0.1" });
  const response = await pinned(addressOf(checked, "rebind.example"), INIT);
  assertEquals(await response.json(), { from: "checked" });
  assertEquals(asked, ["rebind.example"]);
  assertEquals(checked.requests[0]?.headers.get("host")?.split(":")[0], "rebind.example");
});

test("one private address among public ones is enough to be refused", async () => {
  const resolve = () => Promise.resolve([...at("93.184.216.34"), ...at("10.0.0.7")]);
  await assertRejects(() => requirePublicHost("https://mixed.example/v1", resolve), AppError);
  const publicOnly = createPublicFetch({ resolve });
  await assertRejects(() => publicOnly("https://mixed.example/v1", INIT), AppError);
});

test("private addresses in unusual notations are refused without a lookup", async () => {
  const neverAsked = () => Promise.reject(new Error("looked up"));
  for (
    const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "017700000001",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "169.254.169.254",
      "[fd00:ec2::254]",
      "0.0.0.0",
      "100.100.100.200",
    ]
  ) {
    const url = `http://${host}/latest/meta-data`;
    await assertRejects(() => requirePublicHost(url, neverAsked), AppError, "not public", host);
    const publicOnly = createPublicFetch({ resolve: neverAsked });
    await assertRejects(() => publicOnly(url, INIT), AppError, "not public", host);
  }
});

test("every range outside the public internet is recognised", () => {
  const closed = ["10.1.2.3", "172.16.0.1", "192.168.1.1", "127.8.8.8", "169.254.0.1", "0.1.2.3"];
  const closed6 = ["::", "::1", "fe80::1%eth0", "fc00::1", "ff02::1", "2002:a00:1::", "2001::1"];
  const rest = [
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "nonsense",
  ];
  for (const address of [...closed, ...closed6, ...rest]) {
    assert(!isPublicAddress(address), address);
  }
  for (const address of ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111"]) {
    assert(isPublicAddress(address), address);
  }
});

test("a caller that leaves closes the connection", async () => {
  await using double = await startProviderDouble(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return new Response(null);
  });
  const controller = new AbortController();
  const open = createPublicFetch({ isPublic: () => true });
  const call = open(double.baseUrl, { ...INIT, signal: controller.signal });
  await double.received();
  controller.abort();
  await assertRejects(() => call, DOMException);
  await double.aborted();
});

/** A server that sends these bytes to every client, and nothing else. */
function startRawServer(answer: string) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const closed = Promise.withResolvers<void>();
  (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(4096));
    await connection.write(new TextEncoder().encode(answer));
    // Ends with 0 bytes or a reset once the caller has let go.
    await connection.read(new Uint8Array(1)).catch(() => {});
    closed.resolve();
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/`,
    closed: closed.promise,
    [Symbol.dispose]: () => listener.close(),
  };
}

test("an answer 205 is an answer without a body", async () => {
  using server = startRawServer(
    "HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
  );
  const response = await createPublicFetch({ isPublic: () => true })(server.url, INIT);
  assertEquals([response.status, response.body], [205, null]);
  await server.closed;
});

for (const status of [600, 999]) {
  test(`an answer of status ${status} fails its call, and its connection is closed`, async () => {
    using server = startRawServer(`HTTP/1.1 ${status} Odd\r\ncontent-length: 9\r\n\r\nhalf`);
    const open = createPublicFetch({ isPublic: () => true });
    await assertRejects(() => open(server.url, INIT), SyntaxError, "not valid HTTP");
    await server.closed;
  });
}

test("an answer that switches the protocol fails its call, and its connection is closed", async () => {
  using server = startRawServer(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\nhello",
  );
  const open = createPublicFetch({ isPublic: () => true });
  await assertRejects(() => open(server.url, INIT), SyntaxError, "not valid HTTP");
  await server.closed;
});

const HINT = "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n";

test("hints before an answer are skipped; endless ones fail the call and close its connection", async () => {
  const open = createPublicFetch({ isPublic: () => true });
  using few = startRawServer(`${HINT.repeat(3)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`);
  assertEquals(await (await open(few.url, INIT)).text(), "ok");
  using many = startRawServer(HINT.repeat(200));
  const init = { ...INIT, signal: AbortSignal.timeout(60_000) };
  await assertRejects(() => open(many.url, init), SyntaxError, "not valid HTTP");
  await many.closed;
});

test("a connection is kept for the next call, but not for long", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}/`;
  const open = createPublicFetch({ isPublic: () => true, idleMs: 2_000 });
  const call = async () => await (await open(url, INIT)).text();
  const first = call();
  using connection = await listener.accept();
  const buffer = new Uint8Array(10_000);
  const answer = async () => {
    await connection.read(buffer);
    const text = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    await connection.write(new TextEncoder().encode(text));
  };
  await answer();
  assertEquals(await first, "ok");
  await new Promise((resolve) => setTimeout(resolve)); // the connection is free again
  const second = call();
  await answer(); // on the same connection
  assertEquals(await second, "ok");
  const ended = untilAbort(connection.read(buffer), AbortSignal.timeout(60_000));
  assertEquals(await ended, null, "it was closed from the other end");
});

const CLOSED: Record<string, string[]> = {
  "this host and loopback": ["0.0.0.0", "0.0.0.1", "127.0.0.1", "127.255.255.254", "::", "::1"],
  "private": [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "fc00::1",
    "fd00:ec2::254",
  ],
  "Azure's own, inside its machines": ["168.63.129.16", "::ffff:168.63.129.16", "::ffff:a83f:8110"],
  "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1"],
  "shared and reserved": ["100.64.0.1", "192.0.0.8", "198.18.0.1", "203.0.113.1", "240.0.0.1"],
  "broadcast and multicast": ["255.255.255.255", "224.0.0.1", "ff02::1"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::ffff:10.0.0.1"],
  "IPv4-compatible": ["::7f00:1", "::127.0.0.1", "::a9fe:a9fe", "::10.0.0.1", "::8.8.8.8", "::2"],
  "IPv4-translated": ["::ffff:0:7f00:1", "::ffff:0:10.0.0.1", "::ffff:0:a9fe:a9fe"],
  "NAT64": ["64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1"],
  "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "192.88.99.1"],
  "Teredo": ["2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  "special and not given out": ["100::1", "2001:db8::1", "3fff::1", "5f00::1", "1::1", "4000::1"],
  "no address": ["", "localhost", "::g", "[", "93.184.216.34.5", "1::2::3"],
};

for (const [kind, addresses] of Object.entries(CLOSED)) {
  test(`addresses that are not public: ${kind}`, () => {
    const open = addresses.flatMap((address) => [address, `[${address}]`]).filter(isPublicAddress);
    assertEquals(open, []);
  });
}

test("addresses of the public internet are public", () => {
  const open = ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::200e"];
  const written = ["[2606:4700:4700::1111]", "::ffff:8.8.8.8", "::ffff:808:808"];
  assertEquals([...open, ...written].filter((address) => !isPublicAddress(address)), []);
});

const ADDRESS = "http://provider.example/";

/** This answer, bounded. */
function bounded(answer: Response, maxBytes: number): Promise<Response> {
  return createOutgoingFetch({ connect: () => Promise.resolve(answer), maxBytes })(ADDRESS);
}

test("the user and password of an address are sent as a header, also beyond ASCII", async () => {
  const sent: unknown[] = [];
  const connect = (input: unknown, init: RequestInit = {}) => {
    sent.push([String(input), new Headers(init.headers).get("authorization")]);
    return Promise.resolve(new Response("ok"));
  };
  const send = createOutgoingFetch({ connect: connect as typeof fetch });
  await send("http://us%40er:p%C3%A4ss@provider.example/v1?key=k");
  await send(ADDRESS, { headers: { authorization: "Bearer x" } });
  assertEquals(sent, [
    ["http://provider.example/v1?key=k", "Basic dXNAZXI6cMOkc3M="], // as Deno's own fetch sends it
    [ADDRESS, "Bearer x"],
  ]);
});

test("an answer ends at the limit, whatever length it declares, and its source is cancelled", async () => {
  for (const headers of [{}, { "content-length": "1000" }]) {
    const cancelled = Promise.withResolvers<void>();
    let sent = 0;
    const long = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(100));
        if (++sent === 20) controller.close();
      },
      cancel: () => cancelled.resolve(),
    });
    const response = await bounded(new Response(long, { headers }), 500);
    await assertRejects(() => response.text(), AnswerTooLarge, "over 500 bytes");
    await cancelled.promise;
  }
});

test("an answer within the limit is complete, with its status and headers", async () => {
  const answer = new Response("fine", { status: 201, headers: { "x-own": "1" } });
  const response = await bounded(answer, 4);
  assertEquals([response.status, response.headers.get("x-own")], [201, "1"]);
  assertEquals(await response.text(), "fine");
});

test("the pieces of an answer hold no more memory than their bytes", async () => {
  await using endpoint = await startProviderDouble(
    partial(Array(50).fill("a few bytes"), { end: "close" }),
  );
  const response = await createOutgoingFetch()(endpoint.baseUrl);
  const pieces = await Array.fromAsync(response.body!);
  const held = pieces.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  assertEquals(held, 50 * "a few bytes".length);
});

test("an answer that declares a smaller length is passed through as it is", async () => {
  const answer = new Response("fine", { headers: { "content-length": "4" } });
  assertStrictEquals(await bounded(answer, 4), answer);
  await answer.text();
});

test("an abort ends the reading also when the first response was collected", async () => {
  await using endpoint = await startProviderDouble(partial(["begun"], { end: "hang" }));
  const script = new URL("../../fakes/collected_response.ts", import.meta.url).pathname;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", "--v8-flags=--expose-gc", script, endpoint.baseUrl],
  }).output();
  const text = new TextDecoder();
  assertEquals([text.decode(stdout), text.decode(stderr)], ["AbortError\n", ""]);
});

test("a request whose connection is reset is sent once, with its length", async () => {
  const lengths: (string | undefined)[] = [];
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  (async () => {
    for await (const connection of listener) {
      let head = "";
      const buffer = new Uint8Array(16);
      while (!/content-length: \d+\r/i.test(head)) {
        head += new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
      }
      lengths.push(/content-length: (\d+)/i.exec(head)?.[1]);
      connection.close(); // with bytes that nobody has read: a reset
    }
  })();
  const send = createOutgoingFetch();
  const url = `http://127.0.0.1:${listener.addr.port}`;
  await assertRejects(() => send(url, { method: "POST", body: "{}" }));
  assertEquals(lengths, ["2"]);
});

test("the text arrives as it is, also after a redirect", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/there") return void request.pipe(response);
    request.resume().once("end", () => response.writeHead(307, { location: "/there" }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const send = createOutgoingFetch();
    for (const body of ["", "é", "long ".repeat(50_000)]) {
      const response = await send(`http://127.0.0.1:${port}`, { method: "POST", body });
      assertEquals(await response.text(), body);
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server on loopback that redirects `/to?…` and reports all other requests. */
function startServer() {
  const seen: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const url = new URL(request.url);
      const body = await request.text();
      seen.push(
        `${request.method} ${url.pathname} ${request.headers.get("authorization")} ${body}`,
      );
      const location = url.searchParams.get("location");
      if (location === null) return new Response("arrived");
      return new Response(null, {
        status: Number(url.searchParams.get("status")),
        headers: { location },
      });
    },
  );
  return {
    seen,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const init = { method: "POST", body: "secret text", headers: { authorization: "Bearer secret" } };

for (const status of [301, 302, 307, 308]) {
  test(`a ${status} within the origin is followed with method, body and credential`, async () => {
    await using server = startServer();
    const response = await createOutgoingFetch()(
      `${server.url}/to?status=${status}&location=/there`,
      init,
    );
    assertEquals(await response.text(), "arrived");
    assertEquals(server.seen[1], "POST /there Bearer secret secret text");
  });

  test(`a ${status} to another origin is handed back, and nothing is sent there`, async () => {
    await using server = startServer();
    await using thief = startServer();
    const response = await createOutgoingFetch()(
      `${server.url}/to?status=${status}&location=${thief.url}/`,
      init,
    );
    await response.body?.cancel();
    assertEquals(response.status, status);
    assertEquals(thief.seen, []);
    // The danger is real: a plain fetch would have gone there.
    await (await fetch(`${server.url}/to?status=${status}&location=${thief.url}/`, init)).text();
    assertEquals(thief.seen.length, 1);
  });
}

test("a circle of redirects ends, and is told from one that leads elsewhere", async () => {
  for (const location of ["/again", "http://host/again", "http://host//other.example/again"]) {
    let calls = 0;
    const circle: typeof fetch = () => {
      calls++;
      return Promise.resolve(new Response(null, { status: 307, headers: { location } }));
    };
    const response = await createOutgoingFetch({ connect: circle })("http://host/again", init);
    const { status, headers } = response;
    assertEquals([status, headers.get("location"), calls], [307, "/", 6]);
  }
});

test("an answer that is no redirect is handed back, also if it names a location", async () => {
  for (const status of [200, 201, 299, 400, 503]) {
    let calls = 0;
    const created: typeof fetch = () => {
      calls++;
      return Promise.resolve(new Response(null, { status, headers: { location: "/new" } }));
    };
    const response = await createOutgoingFetch({ connect: created })("http://host/things", init);
    assertEquals([response.status, calls], [status, 1]);
  }
});
