import { assert, assertEquals, assertRejects } from "@std/assert";
import { untilAbort } from "../../../shared/abort.ts";
import { AppError } from "../../../shared/errors.ts";
import { isPublicAddress } from "../../../shared/http/fetch/public_address.ts";
import {
  createPublicFetch,
  requirePublicHost,
  type ResolvedAddress,
} from "../../../shared/http/fetch/public_fetch.ts";
import { json, type ProviderDouble, startProviderDouble } from "../../fakes/provider_double.ts";

const SECRET = "planted-secret";
const INIT = { method: "POST", headers: { authorization: `Bearer ${SECRET}` }, body: "{}" };

const at = (address: string): ResolvedAddress[] => [{
  address,
  family: address.includes(":") ? 6 : 4,
}];

/** A name whose first answer is innocent, and every later one the attacker's choice. */
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

Deno.test("a name that is rebound after its check does not get the secret", async () => {
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

Deno.test("the address that was checked is the one connected to", async () => {
  await using checked = await startProviderDouble(json({ from: "checked" }));
  // Nobody listens there at this port: a second look at the name would fail the call.
  const { asked, resolve } = rebinding("127.0.0.1", "127.0.0.2");
  const pinned = createPublicFetch({ resolve, isPublic: (address) => address === "127.0.0.1" });
  const response = await pinned(addressOf(checked, "rebind.example"), INIT);
  assertEquals(await response.json(), { from: "checked" });
  assertEquals(asked, ["rebind.example"]);
  assertEquals(checked.requests[0]?.headers.get("host")?.split(":")[0], "rebind.example");
});

Deno.test("one private address among public ones is enough to be refused", async () => {
  const resolve = () => Promise.resolve([...at("93.184.216.34"), ...at("10.0.0.7")]);
  await assertRejects(() => requirePublicHost("https://mixed.example/v1", resolve), AppError);
  const publicOnly = createPublicFetch({ resolve });
  await assertRejects(() => publicOnly("https://mixed.example/v1", INIT), AppError);
});

Deno.test("private addresses in unusual notations are refused without a lookup", async () => {
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

Deno.test("every range outside the public internet is recognised", () => {
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

Deno.test("a caller that leaves closes the connection", async () => {
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

/** A server that says these bytes to whoever connects, and nothing else. */
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

Deno.test("an answer 205 is an answer without a body", async () => {
  using server = startRawServer(
    "HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
  );
  const response = await createPublicFetch({ isPublic: () => true })(server.url, INIT);
  assertEquals([response.status, response.body], [205, null]);
  await server.closed;
});

for (const status of [600, 999]) {
  Deno.test(`an answer of status ${status} fails its call, and its connection is closed`, async () => {
    using server = startRawServer(`HTTP/1.1 ${status} Odd\r\ncontent-length: 9\r\n\r\nhalf`);
    const open = createPublicFetch({ isPublic: () => true });
    await assertRejects(() => open(server.url, INIT), SyntaxError, "not valid HTTP");
    await server.closed;
  });
}

Deno.test("an answer that switches the protocol fails its call, and its connection is closed", async () => {
  using server = startRawServer(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\nhello",
  );
  const open = createPublicFetch({ isPublic: () => true });
  await assertRejects(() => open(server.url, INIT), SyntaxError, "not valid HTTP");
  await server.closed;
});

Deno.test("a connection is kept for the next call, but not for long", async () => {
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
  const second = call();
  await answer(); // on the same connection
  assertEquals(await second, "ok");
  const ended = untilAbort(connection.read(buffer), AbortSignal.timeout(60_000));
  assertEquals(await ended, null, "it was closed from the other end");
});
