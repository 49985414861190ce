import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isLoopback } from "../../../shared/http/router/origin.ts";
import { answerInTurn } from "../../../shared/http/server/in_turn.ts";
import { askDemo } from "../../fakes/ask_demo.ts";
import { completion, hang, holdAnswers, startProviderDouble } from "../../fakes/provider_double.ts";
import { connectRaw, type RawClient } from "../../fakes/raw_client.ts";
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

Deno.test("a client whose head or body does not arrive is not waited for", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { BODY_TIMEOUT_MS: "2500" }, // a busy machine needs some of it to read what came
  });
  const noHead = speak(agent, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  const noBody = speak(agent, `${HEAD}content-length: 100\r\n\r\n{"mess`);
  const nothing = speak(agent);
  assertStringIncludes(await noHead, "HTTP/1.1 408");
  const answer = await noBody;
  assertStringIncludes(answer, "HTTP/1.1 408");
  assertStringIncludes(answer, "request_timeout");
  await nothing; // closed, with or without an answer
  const later = await askDemo(agent);
  await later.body?.cancel();
  assertEquals(later.status, 200);
});

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

Deno.test("a quiet connection is kept for longer than proxies keep theirs", async () => {
  await using agent = await startServiceProcess("agent");
  using client = await connectRaw(agent.url);
  const ask = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  await client.say(`${ask}\r\n${ask}connection: close\r\n\r\n`);
  assertMatch(await client.heard, /^keep-alive: timeout=75\r$/im);
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
  await using agent = await startServiceProcess("agent", {
    environment: { BODY_TIMEOUT_MS: "200" },
  });
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
  const answer = await speak(agent, `${HEAD}transfer-encoding: chunked\r\n\r\n`, ...chunks);
  assertStringIncludes(answer, "HTTP/1.1 413");
  assertStringIncludes(answer, "body_too_large");
});

Deno.test("what is no valid request is refused", async (t) => {
  await using agent = await startServiceProcess("agent");

  await t.step("a request with two Host headers is refused", async () => {
    const answer = await speak(
      agent,
      "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nhost: other\r\nconnection: close\r\n\r\n",
    );
    assertStringIncludes(answer, "HTTP/1.1 400");
    assertStringIncludes(answer, "two Host headers");
  });

  await t.step(
    "invalid HTTP and a header section that is too long are answered with a problem document",
    async () => {
      assertStringIncludes(await speak(agent, "hello?\r\n\r\n"), "HTTP/1.1 400");
      const long = await speak(agent, `${HEAD}x-long: ${"a".repeat(100_000)}\r\n\r\n`);
      assertStringIncludes(long, "HTTP/1.1 431");
      assertStringIncludes(long, "application/problem+json");
    },
  );

  await t.step("a request without a valid URL is answered with a problem document", async () => {
    const CLOSE = "connection: close\r\n\r\n";
    const requests = {
      "no Host": `GET / HTTP/1.1\r\n${CLOSE}`,
      "a Host that is none in HTTP/1.0": `GET / HTTP/1.0\r\nHost: a b/c\r\n${CLOSE}`,
      "a Host that is none": `GET / HTTP/1.1\r\nHost: a b/c\r\n${CLOSE}`,
      "an address that is none": `GET / HTTP/1.1\r\nHost: 127.999.0.1\r\n${CLOSE}`,
      "a path that is none": `GET http:// HTTP/1.1\r\nHost: 127.0.0.1\r\n${CLOSE}`,
    };
    for (const [what, request] of Object.entries(requests)) {
      const answer = await speak(agent, request);
      assertStringIncludes(answer, " 400 ", what);
      assertStringIncludes(answer, '"code":"invalid_request"', what);
      assertStringIncludes(answer.toLowerCase(), "x-request-id: ", what);
      assertStringIncludes(answer.toLowerCase(), "x-content-type-options: nosniff", what);
    }
  });
});

Deno.test("a health check in HTTP/1.0 without a Host is answered, on IPv4 and IPv6", async () => {
  for (const HOST of ["127.0.0.1", "::1"]) {
    await using agent = await startServiceProcess("agent", { environment: { HOST } });
    assertStringIncludes(await speak(agent, "GET /readyz HTTP/1.0\r\n\r\n"), "HTTP/1.1 200", HOST);
    const named = await speak(agent, "GET /readyz HTTP/1.0\r\nHost: other.example\r\n\r\n");
    assertStringIncludes(named, "HTTP/1.1 403", HOST);
  }
});

Deno.test("an expectation that the service does not know is ignored", async () => {
  await using agent = await startServiceProcess("agent");
  const request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nexpect: something\r\n";
  const answer = await speak(agent, `${request}connection: close\r\n\r\n`);
  assertStringIncludes(answer, "HTTP/1.1 200");
});

Deno.test("over the limit of requests a caller is refused at once, and served again later", async () => {
  await using hub = await startProviderDouble([hang(), hang(), completion()]);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, MAX_REQUESTS: "2" },
  });
  const leaving = new AbortController();
  const wait = () =>
    fetch(agent.url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-model-id": "a/b" },
      body: JSON.stringify({ messages: [{ type: "human", content: "Hi" }] }),
      signal: leaving.signal,
    }).catch(() => {});
  const waiting = [wait(), wait()];
  await hub.received(2);
  const refused = await fetch(agent.url);
  assertEquals([refused.status, (await refused.json()).code], [503, "overloaded"]);
  assert(Number(refused.headers.get("retry-after")) > 0);
  assertEquals(await (await fetch(`${agent.url}/healthz`)).json(), { status: "ok" });
  leaving.abort();
  await Promise.all(waiting);
  await hub.aborted(2);
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
    AGENT_MAX_RUNS: "1",
    EVAL_MAX_RUNS: "1",
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

/** Connections of a real process, up to the number of files that the system lets it open. */

const ASK = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/** A request whose body is still to come: its connection is busy, and not closed for another. */
const BEGIN = {
  agent: "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
    "x-model-id: demo/assistant\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n",
};

/** Connections that send `text` as soon as they are open. */
function connectMany(
  service: ServiceProcess,
  { count, text }: { count: number; text: string },
): Promise<RawClient[]> {
  return Promise.all(Array.from({ length: count }, async () => {
    const client = await connectRaw(service.url);
    await client.say(text);
    return client;
  }));
}

async function hasLine(service: ServiceProcess, text: string): Promise<void> {
  await until(() => countLines(service, text) > 0, { what: `a line with "${text}"` });
}

async function metric(service: ServiceProcess, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${RegExp.escape(name)} (.*)$`, "m").exec(text)?.[1]);
}

const countLines = ({ lines }: ServiceProcess, text: string) =>
  lines.filter((line) => line.includes(text)).length;

Deno.test("a service that may not open enough files does not start, and says how many it needs", async () => {
  const needed = { agent: 1000 + 1000 + 128 + 64, eval: 1000 + 2 * 64 + 10 + 128 + 64 };
  for (const name of ["agent", "eval"] as const) {
    const starting = startServiceProcess(name, { limits: "ulimit -n 1000" });
    const { message } = await assertRejects(() => starting, Error);
    assertStringIncludes(
      message,
      `cannot start: the process may not open ${needed[name]} more files`,
    );
    assertStringIncludes(message, "(ulimit -n, LimitNOFILE)");
    assert(!message.includes("at file://"), "there is a stack trace");
  }
});

Deno.test("more connections than allowed are refused, and later ones are served", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { MAX_CONNECTIONS: "50" },
    limits: "ulimit -n 400",
  });
  const clients = await connectMany(agent, { count: 300, text: BEGIN.agent });
  await hasLine(agent, "connections were refused");
  for (const client of clients) client[Symbol.dispose]();
  await until(async () => { // it notices the closed connections sooner or later
    const response = await fetch(`${agent.url}/healthz`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.status === 200;
  });
  const refused = await metric(agent, 'assay_connections_refused_total{reason="total"}');
  assert(refused > 0, `${refused} were refused`);
  assertEquals(countLines(agent, "connections were refused"), 1, "more than a line per interval");
});

Deno.test("over MAX_CONNECTIONS_PER_ADDRESS a client gets the reason, and its connection is closed", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { MAX_CONNECTIONS_PER_ADDRESS: "3" },
  });
  const clients = await connectMany(agent, { count: 3, text: BEGIN.agent });
  using fourth = await connectRaw(agent.url);
  await fourth.say(ASK);
  const answer = await fourth.heard;
  assertStringIncludes(answer, "HTTP/1.1 503");
  assertStringIncludes(answer, "connection: close");
  assertStringIncludes(answer, "retry-after: 2");
  assertStringIncludes(answer, '"code":"overloaded"');
  for (const client of clients) client[Symbol.dispose]();
});

Deno.test("a trusted proxy is limited by the total only", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { MAX_CONNECTIONS_PER_ADDRESS: "1", TRUSTED_PROXIES: "127.0.0.1" },
  });
  const text = ASK.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
  const clients = await connectMany(agent, { count: 5, text });
  for (const client of clients) {
    assertStringIncludes(await client.heard, "HTTP/1.1 200");
    client[Symbol.dispose]();
  }
});

Deno.test("idle connections are closed for new ones, and busy ones stay", async () => {
  await using agent = await startServiceProcess("agent", { environment: { MAX_CONNECTIONS: "4" } });
  const [busy] = await connectMany(agent, { count: 1, text: BEGIN.agent });
  const quiet = await connectMany(agent, { count: 3, text: "" });
  const status = await until(async () => {
    const response = await fetch(`${agent.url}/healthz`);
    await response.body?.cancel();
    return response.status !== 503 && response.status;
  });
  assertEquals(status, 200);
  assertEquals(await Promise.race(quiet.map(({ heard }) => heard)), "");
  await busy!.say(" ".repeat(1000));
  assertStringIncludes(await busy!.heard, "HTTP/1.1 400");
  for (const client of [busy!, ...quiet]) client[Symbol.dispose]();
});

Deno.test("after a failed accept node:http still accepts no connection, and the service exits to be restarted", async () => {
  const fake = new URL("../../fakes/exhausted_service.ts", import.meta.url).pathname;
  await using service = await startProcess(["run", "-A", "--no-prompt", fake], {
    environment: { WATCHDOG_MS: "300", MAX_CONNECTIONS: "16" },
    limits: "ulimit -n 256",
  });
  const exhausted = await fetch(`${service.url}/exhaust`, { method: "POST" });
  assert((await exhausted.json()).files > 100);
  const text = ASK.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
  const unheard = await connectMany(service, { count: 3, text });
  const heard = await Promise.all(unheard.map((client) => client.heard));
  assert(
    heard.some((answer) => answer === ""),
    `Deno ${Deno.version.deno} accepts connections again when it may open files again: the reason ` +
      "for the watchdog and for counting files at the start is gone. Delete " +
      "shared/http/server/watchdog.ts, WATCHDOG_MS, canOpenFiles and requireFiles, then this test.",
  );
  assertEquals((await service.status).code, 1);
  assertEquals(countLines(service, "no longer answers on its own port"), 1);
  for (const client of unheard) client[Symbol.dispose]();
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

Deno.test("what a client sends ahead is parsed request by request, when the one before is answered", async () => {
  const held: ServerResponse[] = [];
  const inTurn = answerInTurn((_incoming, outgoing) => void held.push(outgoing));
  let parsed = 0;
  const server = createServer((incoming, outgoing) => {
    parsed++;
    inTurn.listener(incoming, outgoing);
  });
  server.on("connection", inTurn.watch);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  using client = await connectRaw(`http://127.0.0.1:${port}`);
  const ask = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  await client.say(`${`${ask}\r\n`.repeat(299)}${ask}connection: close\r\n\r\n`);
  for (let answered = 0; answered < 300; answered++) {
    const outgoing = await until(() => held.shift());
    assertEquals(parsed, answered + 1);
    outgoing.end("ok");
  }
  assertEquals((await client.heard).match(/HTTP\/1\.1 200/g)?.length, 300);
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("a request of a connection that was not announced is answered at once", async () => {
  const inTurn = answerInTurn((_incoming, outgoing) => void outgoing.end("ok"));
  const server = createServer(inTurn.listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  using client = await connectRaw(`http://127.0.0.1:${port}`);
  await client.say("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nconnection: close\r\n\r\n");
  assertMatch(await client.heard, /HTTP\/1\.1 200/);
  await new Promise((resolve) => server.close(resolve));
});
