import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { freePort } from "../fakes/free_port.ts";
import {
  type Answer,
  completion,
  errorStatus,
  json,
  type ProviderDouble,
  type ReceivedRequest,
  startProviderDouble,
} from "../fakes/provider_double.ts";
import {
  runServiceCommand,
  type ServiceProcess,
  startServiceProcess,
} from "../fakes/service_process.ts";
import { startServer, writeNpx } from "./npx.ts";
import { until } from "../fakes/until.ts";

/** Servers from npm as users configure them, all at once, behind one agent. */
const EVERYTHING = [
  `--lock=${new URL("../deno.lock", import.meta.url).pathname}`,
  new URL("../fakes/everything_server.ts", import.meta.url).pathname,
];
const ROOT = new URL("../../", import.meta.url).pathname;

/** A folder for the time of a test. */
async function makeFolder() {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  return {
    folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Calls the tool that the question names, and then answers with the text of its result. */
const hubAnswer: Answer = (request: ReceivedRequest) => {
  const { messages } = request.body;
  const result = messages.find(({ role }: { role: string }) => role === "tool");
  if (result) return completion({ content: `It said: ${result.content}` })(request);
  const { name, args } = JSON.parse(messages.at(-1).content);
  return completion({ toolCalls: [{ name, arguments: JSON.stringify(args) }] })(request);
};

async function ask({ url }: ServiceProcess, name: string, args: unknown): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": "acme/m" },
    body: JSON.stringify({ prompt: JSON.stringify({ name, args }) }),
  });
  return (await response.json()).content;
}

/** Waits until every server is ready; shows why if one is not. */
async function allReady({ url }: ServiceProcess) {
  let states: { state: string }[] = [];
  return await until(async () => {
    const report = await (await fetch(`${url}/tools`)).json();
    states = report.servers;
    const down = states.find(({ state }) => state === "down");
    // Servers over HTTP may still be starting; programs must not fail.
    if (down && "stderr" in down) throw new Error(JSON.stringify(down));
    return states.every(({ state }) => state === "ready") && report;
  }, { within: 60_000, what: () => `all servers are ready: ${JSON.stringify(states)}` });
}

/** What the services answer that some servers ask: charts, Notion and Context7. */
const FOUND = {
  success: true,
  resultObj: "https://charts.example/1.png",
  object: "user",
  name: "Ada",
  results: [{ id: "/denoland/deno", title: "Deno", description: "A runtime." }],
};

interface Ports {
  http: number;
  sse: number;
  notion: number;
  context7: number;
}

/** VS Code's form, with comments; each entry as the server's documentation gives it. */
function toEntries(
  folder: string,
  { ports, internet }: { ports: Ports; internet: string },
): string {
  return `{
    "servers": {
      // programs
      "files": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem", "${folder}"],
      },
      "memory": {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-memory"],
        "env": { "MEMORY_FILE_PATH": "${folder}/memory.jsonl" },
        "deny": ["delete_entities"],
      },
      "thinking": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-sequential-thinking"],
      },
      "github": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-github"],
        "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "none" },
      },
      "charts": {
        "command": "npx",
        "args": ["-y", "@antv/mcp-server-chart"],
        "env": { "VIS_REQUEST_SERVER": "${internet}" },
      },
      "docs": {
        "command": "npx",
        "args": ["-y", "@upstash/context7-mcp"],
        "env": { "CONTEXT7_API_URL": "${internet}" },
        "protocolVersion": "2026-07-28",
      },
      // addresses
      "web": { "type": "http", "url": "http://127.0.0.1:${ports.http}/mcp" },
      "notion": {
        "url": "http://127.0.0.1:${ports.notion}/mcp",
        "headers": { "Authorization": "Bearer notion-secret" },
      },
      "context7": { "type": "http", "url": "http://127.0.0.1:${ports.context7}/mcp" },
      "old": { "type": "sse", "url": "http://127.0.0.1:${ports.sse}/sse" },
    },
  }`;
}

/** In front of a server; tells what is said in which version of the protocol. */
function listenTo(port: number) {
  const said = new Set<string>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const body = await request.text();
    const { method } = body ? JSON.parse(body) : { method: request.method };
    said.add(`${method} ${request.headers.get("mcp-protocol-version") ?? "unversioned"}`);
    const { headers } = request;
    const answer = fetch(`http://127.0.0.1:${port}${pathname}`, {
      method: request.method,
      headers,
      ...(body && { body }),
    });
    return await answer.catch(() => new Response(null, { status: 502 })); // it is still starting
  });
  return { port: server.addr.port, said, [Symbol.asyncDispose]: () => server.shutdown() };
}

Deno.test("servers from npm work over stdio, HTTP and the old SSE, from a file at any path", async () => {
  await using temporary = await makeFolder();
  const { folder } = temporary;
  const ports = { http: freePort(), sse: freePort(), notion: freePort(), context7: freePort() };
  await Deno.mkdir(`${folder}/bin`);
  const npx = await writeNpx(`${folder}/bin`);
  await Deno.writeTextFile(`${folder}/note.txt`, "a note in a file");
  await using internet = await startProviderDouble(json(FOUND));
  await using earlier = listenTo(ports.http);
  await using modern = listenTo(ports.context7);
  await Deno.writeTextFile(
    `${folder}/servers.jsonc`,
    toEntries(folder, {
      ports: { ...ports, http: earlier.port, context7: modern.port },
      internet: internet.origin,
    }),
  );
  const everything = (transport: string, port: number) =>
    startServer(Deno.execPath(), {
      args: ["run", "-A", ...EVERYTHING, transport],
      env: { PORT: String(port) },
    });
  const overHttp = (name: string, port: number) => {
    const args = ["-y", name, "--transport", "http", "--port", String(port)];
    const { origin } = internet;
    const env = { AUTH_TOKEN: "notion-secret", BASE_URL: origin, CONTEXT7_API_URL: origin };
    return startServer(npx, { args, env });
  };
  await using _web = everything("streamableHttp", ports.http);
  await using _old = everything("sse", ports.sse);
  await using _notion = overHttp("@notionhq/notion-mcp-server", ports.notion);
  await using _context7 = overHttp("@upstash/context7-mcp", ports.context7);
  await using hub = await startProviderDouble(hubAnswer);
  await using agent = await startServiceProcess("agent", {
    environment: {
      HUB_BASE_URL: hub.baseUrl,
      AGENT_MCP_CONFIG: `${folder}/servers.jsonc`,
      PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
    },
    flags: [`--allow-read=${folder}/servers.jsonc`, "--allow-run=npx"],
  });
  const { tools, servers } = await allReady(agent);
  assertEquals(servers.map(({ transport }: { transport: string }) => transport), [
    ...Array(6).fill("stdio"),
    ...Array(3).fill("http"),
    "sse",
  ]);
  const ofMemory = tools.filter(({ source }: { source: string }) => source === "memory")
    .map(({ name }: { name: string }) => name).join();
  assertStringIncludes(ofMemory, "delete_relations");
  assert(!ofMemory.includes("delete_entities"), "a tool that is switched off is not offered");
  const call = (source: string, part: string, args: unknown): Promise<string> => {
    const tool = tools.find((tool: { source: string; name: string }) =>
      tool.source === source && tool.name.includes(part)
    );
    return ask(agent, tool.name, args);
  };
  const entity = { name: "Zoë", entityType: "person", observations: ["likes tea"] };
  const thought = { thought: "Hm.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  const chart = { data: [{ category: "a", value: 1 }], title: "A" };
  const cases: [source: string, part: string, args: unknown, said: string][] = [
    ["files", "read_text_file", { path: `${folder}/note.txt` }, "a note in a file"],
    ["memory", "create_entities", { entities: [entity] }, "likes tea"],
    ["memory", "read_graph", {}, "likes tea"],
    ["thinking", "sequentialthinking", thought, '"thoughtHistoryLength": 1'],
    ["charts", "generate_bar_chart", chart, "https://charts.example/1.png"],
    ["web", "echo", { message: "by web" }, "Echo: by web"],
    ["old", "echo", { message: "by old" }, "Echo: by old"],
    ["notion", "get-self", {}, "Ada"],
    ["docs", "resolve-library-id", { query: "deno", libraryName: "deno" }, "/denoland/deno"],
    ["context7", "resolve-library-id", { query: "deno", libraryName: "deno" }, "/denoland/deno"],
    // It asks GitHub: arguments that do not fit its schema are not sent.
    ["github", "create_issue", { repo: "r", title: "t" }, "owner"],
  ];
  for (const [source, part, args, said] of cases) {
    assertStringIncludes(await call(source, part, args), said);
  }
  assertEquals(
    modern.said,
    new Set(["server/discover", "tools/list", "tools/call"].map((one) => `${one} 2026-07-28`)),
  );
  assert(earlier.said.has("tools/call 2025-11-25"), [...earlier.said].join());
  await call("web", "tiny-image", {});
  checkImage(hub);
});

/** An image of a tool has reached the model as an image part, beside the note in the result. */
function checkImage(hub: ProviderDouble): void {
  const { messages } = hub.requests.at(-1)!.body;
  const [result, images] = messages.slice(-2);
  assertEquals([result.role, images.role], ["tool", "user"]);
  assertStringIncludes(result.content, "(image: image/png)");
  assertEquals(images.content[1].type, "image_url");
  assert(images.content[1].image_url.url.startsWith("data:image/png;base64,"));
}

Deno.test("a program that fails is shown with the end of its standard error, in /tools and in the log", async () => {
  await using hub = await startProviderDouble(errorStatus(500));
  const script = new URL("../fakes/telling_server.ts", import.meta.url).pathname;
  const entry = {
    command: Deno.execPath(),
    args: ["run", "-A", "--quiet", script, "fail"],
    env: { KEY: "entry-secret" },
  };
  await using agent = await startServiceProcess("agent", {
    environment: {
      HUB_BASE_URL: hub.baseUrl,
      AGENT_MCP_CONFIG: JSON.stringify({ mcpServers: { broken: entry } }),
    },
    flags: [`--allow-run=${Deno.execPath()}`],
  });
  const told = () => agent.lines.find((line) => line.includes("MCP server is down"));
  await until(() => told());
  assertStringIncludes(told()!, "cannot start: [secret]");
  const { servers: [server] } = await (await fetch(`${agent.url}/tools`)).json();
  assert(server.stderr.endsWith("cannot start: [secret]"), server.stderr);
});

Deno.test("--check checks the servers too, and names each wrong field", async () => {
  const wrong = JSON.stringify({ servers: { a: { command: "x", args: "-y" }, b: { url: "x" } } });
  const { code, output } = await runServiceCommand("agent", ["--check"], {
    AGENT_MCP_CONFIG: wrong,
  });
  assertEquals(code, 1);
  assertStringIncludes(output, "servers.a.args: Invalid input: expected array, received string");
  assertStringIncludes(output, "servers.b.url: must be an http or https URL");
});

Deno.test("a file at any path is read with the documented command; without it the error names it", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(file, '{"mcpServers": {"a": {"command": "x", "args": 5}}}');
  const check = async (flags: string) => {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", "agent", "--check"],
      cwd: ROOT,
      env: { AGENT_MCP_CONFIG: file, DENO_FLAGS: flags },
    }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  assertStringIncludes(
    await check(""),
    `start with: DENO_FLAGS=--allow-read=${file} deno task agent`,
  );
  assertStringIncludes(await check(`--allow-read=${file}`), "mcpServers.a.args: Invalid input");
  await Deno.remove(file);
});
