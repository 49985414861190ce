import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { freePort } from "../fakes/free_port.ts";
import {
  type Answer,
  completion,
  errorStatus,
  type ProviderDouble,
  type ReceivedRequest,
  startProviderDouble,
} from "../fakes/provider_double.ts";
import {
  runServiceCommand,
  type ServiceProcess,
  startServiceProcess,
} from "../fakes/service_process.ts";

/** Servers from npm as users configure them, all at once, behind one agent. */
const SERVER = new URL("../fakes/npm_server.ts", import.meta.url).pathname;
const EVERYTHING = new URL("../fakes/everything_server.ts", import.meta.url).pathname;
const ROOT = new URL("../../", import.meta.url).pathname;

/** Stands for npx on a machine without a network: runs the named package, from the tests' own lock. */
const NPX = `#!/bin/sh
[ "$1" = "-y" ] && shift
exec "${Deno.execPath()}" run -A --quiet "${SERVER}" "$@"
`;

/** A folder for the time of a test. */
async function makeFolder() {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  return {
    folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function startEverything(transport: "sse" | "streamableHttp", port: number) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", EVERYTHING, transport],
    env: { PORT: String(port) },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
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
  for (;;) {
    const report = await (await fetch(`${url}/tools`)).json();
    const states: { state: string }[] = report.servers;
    if (states.every(({ state }) => state === "ready")) return report;
    const down = states.find(({ state }) => state === "down");
    // Servers over HTTP may still be starting; programs must not fail.
    if (down && "stderr" in down) throw new Error(JSON.stringify(down));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

Deno.test("servers from npm work over stdio, HTTP and the old SSE, from a file at any path", async () => {
  await using temporary = await makeFolder();
  const { folder } = temporary;
  const ports = { http: freePort(), sse: freePort() };
  await Deno.mkdir(`${folder}/bin`);
  await Deno.writeTextFile(`${folder}/bin/npx`, NPX, { mode: 0o755 });
  await Deno.writeTextFile(`${folder}/note.txt`, "a note in a file");
  // VS Code's form, with comments.
  await Deno.writeTextFile(
    `${folder}/servers.jsonc`,
    `{
      "servers": {
        // an entry as the server's documentation gives it
        "files": {
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-filesystem", "${folder}"],
        },
        "memory": {
          "type": "stdio",
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-memory"],
          "env": { "MEMORY_FILE_PATH": "${folder}/memory.jsonl" },
        },
        "web": { "type": "http", "url": "http://127.0.0.1:${ports.http}/mcp" },
        "old": { "type": "sse", "url": "http://127.0.0.1:${ports.sse}/sse" },
      },
    }`,
  );
  await using _web = startEverything("streamableHttp", ports.http);
  await using _old = startEverything("sse", ports.sse);
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
    "stdio",
    "stdio",
    "http",
    "sse",
  ]);
  const nameOf = (source: string, part: string): string =>
    tools.find((tool: { source: string; name: string }) =>
      tool.source === source && tool.name.includes(part)
    )?.name;

  assertStringIncludes(
    await ask(agent, nameOf("files", "read_text_file"), { path: `${folder}/note.txt` }),
    "a note in a file",
  );
  const entity = { name: "Zoë", entityType: "person", observations: ["likes tea"] };
  await ask(agent, nameOf("memory", "create_entities"), { entities: [entity] });
  assertStringIncludes(await ask(agent, nameOf("memory", "read_graph"), {}), "likes tea");
  for (const source of ["web", "old"]) {
    const said = await ask(agent, nameOf(source, "echo"), { message: `by ${source}` });
    assertStringIncludes(said, `Echo: by ${source}`);
  }
  await checkImages(agent, { hub, tool: nameOf("web", "tiny-image") });
});

/** An image of a tool reaches the model as an image part, beside the note in the result. */
async function checkImages(
  agent: ServiceProcess,
  { hub, tool }: { hub: ProviderDouble; tool: string },
): Promise<void> {
  await ask(agent, tool, {});
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
  while (!told()) await new Promise((resolve) => setTimeout(resolve, 20));
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
