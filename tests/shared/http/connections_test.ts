import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { connectRaw, type RawClient } from "../../fakes/raw_client.ts";
import {
  type ServiceProcess,
  startProcess,
  startServiceProcess,
} from "../../fakes/service_process.ts";
import { until } from "../../fakes/until.ts";

/** Connections of a real process, up to the number of files that the system lets it open. */

const ASK = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/** A request whose body is still to come: its connection is busy, and not closed for another. */
const BEGIN = {
  agent: "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
    "x-model-id: demo/assistant\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n",
};

/** Connections that say `text` as soon as they are open. */
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
  await until(async () => { // it hears of their leaving in its own time
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

Deno.test("a service that no longer accepts connections exits with an error, so that it is restarted", async () => {
  const fake = new URL("../../fakes/exhausted_service.ts", import.meta.url).pathname;
  await using service = await startProcess(["run", "-A", "--no-prompt", fake], {
    environment: { WATCHDOG_MS: "300", MAX_CONNECTIONS: "16" },
    limits: "ulimit -n 256",
  });
  const exhausted = await fetch(`${service.url}/exhaust`, { method: "POST" });
  assert((await exhausted.json()).files > 100);
  const unheard = await connectMany(service, { count: 3, text: ASK });
  assertEquals((await service.status).code, 1);
  assertEquals(countLines(service, "no longer answers on its own port"), 1);
  for (const client of unheard) client[Symbol.dispose]();
});
