import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isLoopback } from "../../../shared/http/guards.ts";
import { hang, holdAnswers, startProviderDouble } from "../../fakes/provider_double.ts";
import { connectRaw } from "../../fakes/raw_client.ts";
import {
  type ServiceProcess,
  startProcess,
  startServiceProcess,
} from "../../fakes/service_process.ts";
import { until } from "../../fakes/until.ts";

/** Tests that need real sockets: slow clients, endless bodies, too many connections. */

/** Sends `texts` on a connection of its own, and reads until the other end closes it. */
async function speak(service: ServiceProcess, ...texts: string[]): Promise<string> {
  using client = await connectRaw(service.url);
  for (const text of texts) await client.say(text);
  return await client.heard;
}

const HEAD = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
  "x-model-id: demo/assistant\r\n";

Deno.test("a client that leaves in the middle of its body is not logged as a failure", async () => {
  await using agent = await startServiceProcess("agent");
  const { hostname, port } = new URL(agent.url);
  for (const [encoding, begun] of [["identity", '{"mess'], ["gzip", "\x1f\x8b\x08"]] as const) {
    const connection = await Deno.connect({ hostname, port: Number(port) });
    const head = `${HEAD}content-encoding: ${encoding}\r\ncontent-length: 100\r\n\r\n`;
    await connection.write(Uint8Array.from(head + begun, (character) => character.charCodeAt(0)));
    connection.close();
  }
  const requests = () => agent.lines.filter((line) => line.includes('"message":"request"'));
  await until(() => requests().length >= 2);
  for (const line of requests()) {
    const { level, status, outcome } = JSON.parse(line);
    assertEquals([level, status, outcome], ["info", 499, "client left"]);
  }
});

Deno.test("of requests that a client sends ahead, one is in progress and all are answered in order", async () => {
  const { answer, release } = holdAnswers();
  await using hub = await startProviderDouble(answer);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl },
  });
  const body = JSON.stringify({ messages: [{ type: "human", content: "Hi" }] });
  const ask = `${HEAD}content-length: ${body.length}\r\n\r\n${body}`;
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  using client = await connectRaw(agent.url);
  const last = get("/missing-3").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
  await client.say(ask + get("/missing-1") + ask + ask + get("/missing-2").repeat(2000) + last);
  await hub.received();
  assertEquals((await (await fetch(`${agent.url}/healthz`)).json()).status, "ok");
  const answered = () => agent.lines.filter((line) => line.includes('"path":"/missing'));
  assertEquals([hub.requests.length, answered().length], [1, 0]);
  release();
  const statuses = (await client.heard).match(/(?<=HTTP\/1\.1 )[2-5]\d\d/g);
  assertEquals(statuses, ["200", "404", "200", "200", ...Array(2001).fill("404")]);
});

Deno.test("the rate limit counts requests that are sent ahead", async () => {
  await using agent = await startServiceProcess("agent", { environment: { RATE_LIMIT: "5/min" } });
  using client = await connectRaw(agent.url);
  const ask = "GET /tools HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  await client.say(`${`${ask}\r\n`.repeat(19)}${ask}connection: close\r\n\r\n`);
  const statuses = (await client.heard).match(/(?<=HTTP\/1\.1 )[2-5]\d\d/g);
  assertEquals(statuses, [...Array(5).fill("200"), ...Array(15).fill("429")]);
});

Deno.test("a body that still arrives after the answer does not hold its connection", async () => {
  await using agent = await startServiceProcess("agent");
  using client = await connectRaw(agent.url);
  await client.say("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: 100000\r\n\r\n");
  const dripping = setInterval(() => client.say("x"), 20);
  const heard = await client.heard;
  clearInterval(dripping);
  assertStringIncludes(heard, "HTTP/1.1 200");
});

Deno.test("short keys are warned about by name, and never shown", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { API_KEYS: "ci:short-key,a-key-that-is-long-enough" },
  });
  const warnings = agent.lines.filter((line) => line.includes("fewer than 16 characters"));
  assertEquals(warnings.length, 1);
  assertStringIncludes(JSON.parse(warnings[0]!).message, "which can be guessed: ci");
  assert(!agent.lines.join().includes("short-key"));
});

Deno.test("a chunked body without end is ended at the limit", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { MAX_BODY_BYTES: "20000" },
  });
  const chunk = `2710\r\n${" ".repeat(10_000)}\r\n`;
  const chunks = Array.from({ length: 50 }, () => chunk);
  using client = await connectRaw(agent.url);
  for (const text of [`${HEAD}transfer-encoding: chunked\r\n\r\n`, ...chunks]) {
    await client.say(text);
  }
  await until(() => client.text.includes("body_too_large"));
  assertStringIncludes(client.text, "HTTP/1.1 413");
});

Deno.test("what is no valid request is refused", async (t) => {
  await using agent = await startServiceProcess("agent");

  await t.step("bytes that are not HTTP", async () => {
    assertStringIncludes(await speak(agent, "hello?\r\n\r\n"), "HTTP/1.1 400");
  });

  await t.step("a Host that names no host, or several, with a problem document", async () => {
    const hosts = {
      "two": "127.0.0.1\r\nHost: other",
      "one that ends the path": "127.0.0.1#x",
      "one with a query": "127.0.0.1?x",
      "one with a path": "127.0.0.1/x",
      "one with a backslash": "127.0.0.1\\x",
      "one with a user": "x@127.0.0.1",
      "one that is none": "a b/c",
      "an address that is none": "127.999.0.1",
      "none": "",
    };
    for (const [what, host] of Object.entries(hosts)) {
      const request = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nconnection: close\r\n\r\n`;
      const answer = await speak(agent, request);
      assertStringIncludes(answer, " 400 ", what);
      assertStringIncludes(answer, "names no host, or several", what);
      assertStringIncludes(answer.toLowerCase(), "x-request-id: ", what);
      assertStringIncludes(answer.toLowerCase(), "x-content-type-options: nosniff", what);
    }
  });
});

Deno.test("a health check in HTTP/1.0 without a Host is answered, on IPv4 and IPv6", async () => {
  for (const HOST of ["127.0.0.1", "::1"]) {
    await using agent = await startServiceProcess("agent", { environment: { HOST } });
    assertStringIncludes(await speak(agent, "GET /readyz HTTP/1.0\r\n\r\n"), "HTTP/1.0 200", HOST);
    const named = await speak(agent, "GET /readyz HTTP/1.0\r\nHost: other.example\r\n\r\n");
    assertStringIncludes(named, "HTTP/1.0 403", HOST);
  }
});

Deno.test("an expectation that the service does not know is ignored", async () => {
  await using agent = await startServiceProcess("agent");
  const request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nexpect: something\r\n";
  const answer = await speak(agent, `${request}connection: close\r\n\r\n`);
  assertStringIncludes(answer, "HTTP/1.1 200");
});

const MAX_REQUESTS = 1000;

Deno.test("over the limit of requests a caller is refused at once, and served again later", async () => {
  await using hub = await startProviderDouble(hang());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl },
  });
  const leaving = new AbortController();
  const wait = () =>
    fetch(agent.url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-model-id": "a/b" },
      body: JSON.stringify({ messages: [{ type: "human", content: "Hi" }] }),
      signal: leaving.signal,
    }).catch(() => {});
  const waiting = Array.from({ length: MAX_REQUESTS }, wait);
  await hub.received(MAX_REQUESTS);
  const refused = await fetch(agent.url);
  assertEquals([refused.status, (await refused.json()).code], [503, "overloaded"]);
  assert(Number(refused.headers.get("retry-after")) > 0);
  assertEquals(await (await fetch(`${agent.url}/healthz`)).json(), { status: "ok" });
  leaving.abort();
  await Promise.all(waiting);
  await hub.aborted(MAX_REQUESTS);
  const status = await until(async () => { // the server notices it sooner or later
    const response = await fetch(agent.url);
    await response.body?.cancel();
    return response.status !== 503 && response.status;
  });
  assertEquals(status, 200);
});

Deno.test("over the limit of runs both services refuse runs, and answer other requests", async () => {
  await using endpoint = await startProviderDouble(hang());
  const environment = {
    HUB_BASE_URL: endpoint.baseUrl,
    MAX_RUNS: "1",
  };
  for (const name of ["agent", "eval"] as const) {
    await using service = await startServiceProcess(name, { environment });
    const seen = endpoint.requests.length;
    const body = name === "agent" ? { messages: [{ type: "human", content: "Hi" }] } : {
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi" }] },
      endpoint: endpoint.baseUrl,
      model_id: "m",
    };
    const run = (signal?: AbortSignal) =>
      fetch(name === "agent" ? service.url : `${service.url}/evaluate`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-model-id": "a/b" },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      });
    const leaving = new AbortController();
    const running = run(leaving.signal).catch(() => {});
    await endpoint.received(seen + 1);
    const refused = await run();
    assertEquals([refused.status, (await refused.json()).code], [503, "overloaded"], name);
    assert(refused.headers.has("retry-after"));
    const health = await fetch(`${service.url}/healthz`);
    assertEquals((await health.json()).status, "ok");
    leaving.abort();
    await running;
  }
});

Deno.test("a service that has used up all its files accepts connections again, and keeps those it has", async () => {
  const fake = new URL("../../fakes/exhausted_service.ts", import.meta.url).pathname;
  await using service = await startProcess(["run", "-A", "--no-prompt", fake], {
    limits: "ulimit -n 256",
  });
  const ask = "GET /missing HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  using kept = await connectRaw(service.url);
  await kept.say(`${ask}\r\n`);
  const exhausted = await fetch(`${service.url}/exhaust`, { method: "POST" });
  assert((await exhausted.json()).files > 100);
  // The accept that fails; it may already reset the connection.
  using _refused = await connectRaw(service.url).catch(() => undefined);
  await until(() => service.lines.some((line) => line.includes("it is open again")));
  const response = await fetch(`${service.url}/missing`);
  assertEquals((await response.json()).code, "not_found");
  await kept.say(`${ask}connection: close\r\n\r\n`);
  assertEquals((await kept.heard).match(/HTTP\/1\.1 404/g)?.length, 2);
});

Deno.test("a start on a network names the page about proxies, one on loopback does not", async () => {
  for (const [HOST, expected] of [["0.0.0.0", true], ["127.0.0.1", false]] as const) {
    await using agent = await startServiceProcess("agent", {
      environment: { HOST, API_KEYS: "none" },
    });
    const isNamed = agent.lines.some((line) => line.includes("docs/deploy.md#behind-a-proxy"));
    assertEquals(isNamed, expected, HOST);
  }
});

Deno.test("loopback is what reaches this machine only, in whatever letters", () => {
  for (const name of ["localhost", "LocalHost", "127.0.0.1", "127.255.0.9", "::1", "[::1]"]) {
    assertEquals(isLoopback(name), true, name);
  }
  const others = ["0.0.0.0", "::", "128.0.0.1", "1127.0.0.1", "127.0.0.1.evil.test", "127.1.2.3.4"];
  for (const name of [...others, "localhost.evil.test", "evil.localhost", "", "127.0.0"]) {
    assertEquals(isLoopback(name), false, name);
  }
});
