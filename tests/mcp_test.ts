import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { explainPermission } from "../agent/mcp/config.ts";
import {
  type Answer,
  completion,
  completionChunks,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "./fakes/provider_double.ts";
import { readEvents } from "./fakes/events.ts";
import { type ServiceProcess, startServiceProcess } from "./fakes/service_process.ts";
import { until } from "./fakes/until.ts";

/** The real MCP server of the protocol's authors, as a program and over HTTP. */
const EVERYTHING = [
  `--lock=${new URL("deno.lock", import.meta.url).pathname}`,
  new URL("fakes/everything_server.ts", import.meta.url).pathname,
];
const ENV = Object.fromEntries(
  ["HOME", "PATH", "DENO_DIR"].map((name) => [name, Deno.env.get(name) ?? ""]).filter(([, v]) => v),
);

async function startAgent(
  hub: { baseUrl: string },
  { servers, flags = [], environment }: {
    servers: Record<string, unknown>;
    flags?: string[];
    environment?: Record<string, string>;
  },
) {
  const cwd = await Deno.makeTempDir();
  await Deno.writeTextFile(`${cwd}/mcp.json`, JSON.stringify({ mcpServers: servers }));
  const agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, AGENT_MCP_CONFIG: "mcp.json", ...environment },
    cwd,
    flags: ["--allow-read=.env,mcp.json", ...flags],
  });
  return {
    agent,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await Deno.remove(cwd, { recursive: true });
    },
  };
}

const stdio = (env: Record<string, string> = {}) => ({
  command: Deno.execPath(),
  args: ["run", "-A", ...EVERYTHING, "stdio"],
  env: { ...ENV, ...env },
});
const stdioFlags = [`--allow-run=${Deno.execPath()}`];

interface Wish {
  name: string;
  args: unknown;
}

/** Calls tools for the first question, then answers with the result of the last one. */
function caller(...wishes: Wish[]): Answer {
  return (request: ReceivedRequest) => {
    const { messages, stream } = request.body;
    const last = messages.at(-1);
    const fields = last.role === "tool" ? { content: `It said: ${last.content}` } : {
      toolCalls: wishes.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) })),
    };
    return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
  };
}

function ask({ url }: ServiceProcess, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": "acme/m", ...headers },
    body: JSON.stringify({ prompt: "Go." }),
  });
}

// deno-lint-ignore no-explicit-any
async function toolsOf({ url }: ServiceProcess): Promise<any> {
  return await (await fetch(`${url}/tools`)).json();
}

/** Waits until a server is in that state. */
async function inState(agent: ServiceProcess, state: string): Promise<void> {
  await until(async () => (await toolsOf(agent)).servers[0].state === state, {
    what: `the server is ${state}`,
  });
}

Deno.test("a program's tools are used, and its crash during a call affects only them", async () => {
  const long = { name: "trigger-long-running-operation", args: { duration: 600, steps: 1 } };
  const quick = { name: "echo", args: { message: "quick" } };
  await using hub = await startProviderDouble(caller(long, quick));
  const pidFile = await Deno.makeTempFile();
  await using started = await startAgent(hub, {
    servers: { everything: stdio({ PID_FILE: pidFile }) },
    flags: stdioFlags,
  });
  const { agent } = started;
  await inState(agent, "ready");
  const { tools } = await toolsOf(agent);
  assert(
    tools.some(({ name, source }: Record<string, string>) =>
      name === "get-sum" && source === "everything"
    ),
  );

  const response = await ask(agent, { accept: "text/event-stream" });
  const results: Record<string, string> = {};
  let last = "";
  for await (const { event, data } of readEvents(response)) {
    last = event;
    if (event !== "tool_result") continue;
    results[data.name] = data.content;
    // Calls reach the server in their order: when it has answered this one, it has begun the long one.
    if (data.name === quick.name) Deno.kill(Number(await Deno.readTextFile(pidFile)), "SIGKILL");
  }
  assertEquals(results.echo, "Echo: quick");
  assertStringIncludes(results[long.name] ?? "", "went down during the call");
  assertEquals(last, "done");

  await inState(agent, "ready"); // it was connected again
  await Deno.remove(pidFile);
});

Deno.test("a stopping agent leaves no program behind, not even one that ignores the end of its input", async () => {
  await using hub = await startProviderDouble(completion());
  const pidFile = await Deno.makeTempFile();
  const script = new URL("fakes/stubborn_server.ts", import.meta.url).pathname;
  const server = { ...stdio({ PID_FILE: pidFile }), args: ["run", "-A", script] };
  await using started = await startAgent(hub, { servers: { stubborn: server }, flags: stdioFlags });
  await inState(started.agent, "ready");
  const pid = Number(await Deno.readTextFile(pidFile));
  started.agent.kill("SIGTERM");
  await started.agent.status;
  // A signal can only be sent to a process that exists; if it does, the signal ends it.
  assertThrows(() => Deno.kill(pid, "SIGKILL"));
  await Deno.remove(pidFile);
});

Deno.test("a stopping agent leaves no program behind that is still starting", async () => {
  await using hub = await startProviderDouble(completion());
  const pidFile = await Deno.makeTempFile();
  const script = new URL("fakes/stubborn_server.ts", import.meta.url).pathname;
  const server = { ...stdio({ PID_FILE: pidFile }), args: ["run", "-A", script, "late"] };
  await using started = await startAgent(hub, { servers: { late: server }, flags: stdioFlags });
  const pid = await until(async () => Number(await Deno.readTextFile(pidFile)));
  started.agent.kill("SIGTERM");
  await started.agent.status;
  assertThrows(() => Deno.kill(pid, "SIGKILL"));
  await Deno.remove(pidFile);
});

Deno.test("a call of a program's tool has a result", async () => {
  await using hub = await startProviderDouble(caller({ name: "get-sum", args: { a: 2, b: 40 } }));
  await using started = await startAgent(hub, {
    servers: { everything: stdio() },
    flags: stdioFlags,
  });
  await inState(started.agent, "ready");
  assertStringIncludes((await (await ask(started.agent)).json()).content, "42");
});

Deno.test("a variable that an entry takes away does not reach its program", async () => {
  await using hub = await startProviderDouble(caller({ name: "tell", args: {} }));
  const args = ["run", "-A", new URL("fakes/telling_server.ts", import.meta.url).pathname, "well"];
  const env = { ...ENV, LOGNAME: null };
  await using started = await startAgent(hub, {
    servers: { telling: { command: Deno.execPath(), args, env } },
    flags: stdioFlags,
    environment: { LOGNAME: "somebody", USER: "somebody" },
  });
  await inState(started.agent, "ready");
  const { content } = await (await ask(started.agent)).json();
  assertStringIncludes(content, '"USER":"somebody"');
  assert(!content.includes("LOGNAME"), content);
});

Deno.test("without the permission to start it, a program is down and the error says how to give it", async () => {
  await using hub = await startProviderDouble(completion({ content: "Still here." }));
  await using started = await startAgent(hub, { servers: { everything: stdio() } });
  await inState(started.agent, "down");
  const { servers } = await toolsOf(started.agent);
  assertStringIncludes(
    servers[0].error,
    explainPermission(`--allow-run=${Deno.execPath()}`, Deno.env.has("ASSAY_BINARIES")),
  );
  const ready = await fetch(`${started.agent.url}/readyz`);
  assertEquals([ready.status, (await ready.json()).details], [200, { mcp: "everything is down" }]);
  assertEquals((await (await ask(started.agent)).json()).content, "Still here.");
});

Deno.test("the error of an unreachable server contains no text of the server", async () => {
  await using closed = await startProviderDouble(() =>
    new Response("no, and the key is s3cret", { status: 401 })
  );
  await using hub = await startProviderDouble(completion({ content: "Still here." }));
  await using started = await startAgent(hub, {
    servers: { web: { url: `${closed.origin}/mcp` } },
  });
  await inState(started.agent, "down");
  const { servers } = await toolsOf(started.agent);
  assertEquals(servers[0].error, "it answered with status 401");
  assert(!started.agent.lines.join().includes("s3cret"));
  assertEquals((await (await ask(started.agent)).json()).content, "Still here.");
});

Deno.test("a server over HTTP needs no other settings", async () => {
  await using everything = await startHttpServer();
  await using hub = await startProviderDouble(
    caller({ name: "echo", args: { message: "over HTTP" } }),
  );
  await using started = await startAgent(hub, { servers: { web: { url: everything.url } } });
  await inState(started.agent, "ready");
  assertStringIncludes((await (await ask(started.agent)).json()).content, "Echo: over HTTP");
});

/**
 * The server needs a port as argument. If another program takes that first, the server ends, and
 * another port is tried.
 */
async function startHttpServer(tries = 5): Promise<AsyncDisposable & { url: string }> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", ...EVERYTHING, "streamableHttp"],
    env: { PORT: String(port) },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}/mcp`;
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  async function answers(): Promise<boolean> {
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    return response?.status === 400; // a session is missing
  }
  await until(async () => hasEnded || await answers(), { what: "the server answers or ends" });
  if (hasEnded && tries > 1) return await startHttpServer(tries - 1);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}
