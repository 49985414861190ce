import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { McpConnect, McpEvents, McpSession } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { createMcpToolSource, type McpToolSourceOptions } from "../../../agent/mcp/tool_source.ts";
import { createToolNames } from "../../../agent/mcp/tool_names.ts";
import { observeTools } from "../../../agent/tools/observed_tools.ts";
import { type Tool, ToolError, type ToolSource } from "../../../agent/tools/tool.ts";
import { silentLogger } from "../../../shared/log.ts";
import { createMetrics } from "../../../shared/ops/metrics.ts";

const SERVERS = parseMcpConfig(JSON.stringify({
  mcpServers: { one: { url: "http://one.test/mcp" }, two: { command: "two" } },
}));

const echo: Tool = {
  name: "echo",
  description: "Says it again.",
  schema: z.object({}),
  run: () => "built in",
};

function session(tools: string[], more: Partial<McpSession> = {}): McpSession {
  return {
    listTools: () =>
      Promise.resolve({
        tools: tools.map((name) => ({
          name,
          description: name,
          inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        })),
      }),
    callTool: (name) => Promise.resolve(`${name} said so`),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
    ...more,
  };
}

function open(connect: McpConnect, more: Partial<McpToolSourceOptions> = {}) {
  return createMcpToolSource({
    builtIn: [echo],
    servers: SERVERS,
    connect,
    log: silentLogger,
    firstRetryMs: 1,
    listPauseMs: 1,
    ...more,
  });
}

/** The start of a server that never answers: only the end of the service ends it. */
function neverStarts({ signal }: McpEvents): Promise<never> {
  return new Promise((_, reject) =>
    signal!.addEventListener("abort", () => reject(signal!.reason))
  );
}

/** Waits until the source fulfils a condition. */
async function until(source: ToolSource, holds: (source: ToolSource) => boolean): Promise<void> {
  while (!holds(source)) await new Promise((resolve) => setTimeout(resolve, 1));
}

const names = (source: ToolSource) => source.current().names;
const stateOf = (source: ToolSource, server: string) =>
  source.describe().servers.find(({ name }) => name === server)?.state;

Deno.test("servers' tools join the built-in ones, with a prefix only if names clash", async () => {
  const offers: Record<string, string[]> = { one: ["echo", "add"], two: ["add", "only"] };
  await using source = open(({ name }) => Promise.resolve(session(offers[name]!)));
  await until(source, (source) => names(source).length === 5);
  assertEquals(names(source), ["echo", "one_echo", "add", "two_add", "only"]);
  const { tools } = source.describe();
  assertEquals(tools.map(({ source }) => source), ["built-in", "one", "one", "two", "two"]);
  assertEquals(await source.current().find("add")?.run({ n: 1 }, {}), "add said so");
});

Deno.test("tool names are unique and valid, whatever names the servers use", () => {
  const nameOf = createToolNames(["one_add"]);
  const long = "x".repeat(80);
  const offers: [string, string][] = [
    ["one", "add"],
    ["two", "add"],
    ["a b", "get weather"],
    ["one", long],
    ["two", long],
    ["two", `${long}!`],
  ];
  const named = offers.map(([server, tool]) => nameOf(server, tool));
  assertEquals(new Set([...named, "one_add"]).size, 7);
  assert(named.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)), named.join());
  assertEquals(offers.map(([server, tool]) => nameOf(server, tool)), named);
});

Deno.test("a tool keeps its name while the service runs, whoever else comes and goes", async () => {
  const events: Record<string, McpEvents> = {};
  const isUp = { one: true, two: false };
  await using source = open(({ name }, handlers) => {
    events[name] = handlers;
    return isUp[name as "one"]
      ? Promise.resolve(session(["add"]))
      : Promise.reject(new Error("no"));
  });
  await until(source, (source) => stateOf(source, "one") === "ready");
  assertEquals(names(source), ["echo", "add"]);
  isUp.two = true;
  await until(source, (source) => stateOf(source, "two") === "ready");
  assertEquals(names(source), ["echo", "add", "two_add"]);
  isUp.one = false;
  events.one!.onClose("gone");
  await until(source, (source) => names(source).length === 2);
  assertEquals(names(source), ["echo", "two_add"]);
});

Deno.test("a server that is down or slow loses only its own tools, is reported, and is tried again", async () => {
  let attempts = 0;
  await using source = open(({ name }, given) => {
    if (name === "two") return neverStarts(given); // slow: it never answers
    return ++attempts < 3
      ? Promise.reject(new Error("connection refused"))
      : Promise.resolve(session(["add"]));
  });
  assertEquals(names(source), ["echo"]);
  await until(source, (source) => stateOf(source, "one") === "down");
  const [one] = source.describe().servers;
  assertEquals([one?.error, typeof one?.retry_at], ["connection refused", "string"]);
  await until(source, (source) => stateOf(source, "one") === "ready");
  assertEquals(names(source), ["echo", "add"]);
  assertEquals([attempts, stateOf(source, "two")], [3, "connecting"]);
});

Deno.test("if a server cannot list its tools, the reason contains no text of the server", async () => {
  const listTools = () => Promise.reject(new Error("Error POSTing to endpoint: s3cret"));
  await using source = open(() => Promise.resolve(session([], { listTools })));
  await until(source, (source) => stateOf(source, "one") === "down");
  assertEquals(source.describe().servers[0]?.error, "it cannot list its tools");
});

Deno.test("observed tools close their sessions too", async () => {
  const closed: string[] = [];
  const source = open(({ name }) =>
    Promise.resolve(session([name], {
      close: () => {
        closed.push(name);
        return name === "one" ? Promise.reject(new Error("gone")) : Promise.resolve();
      },
    }))
  );
  await until(source, (source) => names(source).length === 3);
  await observeTools(source, createMetrics({ runs: () => 0 }))[Symbol.asyncDispose]();
  assertEquals(closed, ["one", "two"]);
});

Deno.test("the tools of a server disappear when it ends, and return with it", async () => {
  let events: McpEvents | undefined;
  let opened = 0;
  await using source = open(({ name }, given) => {
    if (name === "one") events = given;
    if (name === "one" && opened++ > 0) return neverStarts(given);
    return Promise.resolve(session([`${name}_tool`]));
  });
  await until(source, (source) => names(source).length === 3);
  events?.onClose("it ended");
  assertEquals(names(source), ["echo", "two_tool"]);
  await until(source, () => opened === 2);
});

Deno.test("the model is told that a server went down during a call, and sees the tool's own error", async () => {
  let isGone = false;
  let failure = new Error("Error POSTing to endpoint (HTTP 500): the key is s3cret");
  await using source = open(({ name }) =>
    Promise.resolve(session([name], {
      callTool: () => Promise.reject(name === "one" ? new ToolError("no such city") : failure),
      ping: () => isGone ? Promise.reject(new Error("gone")) : Promise.resolve(),
    }))
  );
  await until(source, (source) => names(source).length === 3);
  const call = (tool: string) =>
    assertRejects(async () => await source.current().find(tool)?.run({ n: 1 }, {}), ToolError);
  assertStringIncludes((await call("one")).message, "no such city");
  assertEquals((await call("two")).message, "the tool two failed: no valid answer from its server");
  failure = new McpError(-32602, "no such unit");
  assertEquals((await call("two")).message, "the tool two failed: no such unit");
  const kept = source.current().find("two")!;
  isGone = true;
  assertStringIncludes((await call("two")).message, "went down during the call");
  const late = await assertRejects(async () => await kept.run({ n: 1 }, {}), ToolError);
  assertStringIncludes(late.message, "is down");
});

Deno.test("an error in answer to a ping is an answer: the server keeps its tools", async () => {
  await using source = open(({ name }) =>
    Promise.resolve(session([name], {
      callTool: () => Promise.reject(new McpError(-32602, "no such ticket")),
      ping: () => Promise.reject(new McpError(-32601, "Method not found")),
    }))
  );
  await until(source, (source) => names(source).length === 3);
  const error = await assertRejects(
    async () => await source.current().find("one")?.run({ n: 1 }, {}),
    ToolError,
  );
  assertEquals(error.message, "the tool one failed: no such ticket");
  assertEquals(names(source), ["echo", "one", "two"]);
});

/** How a server may report that a call failed, with the key that it was sent. */
const TELLING: Record<string, Error> = {
  "an error of the protocol": new McpError(-32602, "the key planted-k may not read this"),
  "a result that is an error": new ToolError("the key planted-k may not read this"),
};

for (const [what, failure] of Object.entries(TELLING)) {
  Deno.test(`${what} is shown without the keys of its server`, async () => {
    const servers = parseMcpConfig(JSON.stringify({
      mcpServers: {
        one: { url: "http://one.test/mcp", headers: { authorization: "Bearer planted-k" } },
      },
    }));
    const callTool = () => Promise.reject(failure);
    await using source = open(({ name }) => Promise.resolve(session([name], { callTool })), {
      servers,
    });
    await until(source, (source) => names(source).length === 2);
    const error = await assertRejects(
      async () => await source.current().find("one")?.run({ n: 1 }, {}),
      ToolError,
    );
    assertStringIncludes(error.message, "the key [secret] may not read this");
  });
}

Deno.test("a list that a server refuses is reported without the service's own keys", async () => {
  const listTools = () => Promise.reject(new McpError(-32603, "no tools for planted-s"));
  const redact = (text: string) => text.replaceAll("planted-s", "[secret]");
  await using source = open(() => Promise.resolve(session([], { listTools })), { redact });
  await until(source, (source) => stateOf(source, "one") === "down");
  assertEquals(source.describe().servers[0]?.error, "no tools for [secret]");
});

for (
  const [what, code] of [["a closed connection", -32000], ["no answer in time", -32001]] as const
) {
  Deno.test(`${what} at a ping means that the server is down`, async () => {
    await using source = open(({ name }) =>
      Promise.resolve(session([name], {
        callTool: () => Promise.reject(new McpError(code, "gone")),
        ping: () => Promise.reject(new McpError(code, "gone")),
      }))
    );
    await until(source, (source) => names(source).length === 3);
    const error = await assertRejects(
      async () => await source.current().find("one")?.run({ n: 1 }, {}),
      ToolError,
    );
    assertStringIncludes(error.message, "went down during the call");
  });
}

Deno.test("a list that changes is read again", async () => {
  const events: McpEvents[] = [];
  const tools = ["first"];
  await using source = open(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    events.push(given);
    return Promise.resolve(session(tools));
  });
  await until(source, (source) => names(source).includes("first"));
  tools.push("second");
  events[0]?.onToolsChanged();
  await until(source, (source) => names(source).includes("second"));
});

Deno.test("a server that announces changes endlessly is asked for one list at a time", async () => {
  let listed = 0;
  let listing = 0;
  let most = 0;
  let events: McpEvents | undefined;
  const tools = ["first"];
  await using source = open(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    events = given;
    const base = session(tools);
    return Promise.resolve({
      ...base,
      async listTools() {
        most = Math.max(most, ++listing);
        await new Promise((resolve) => setTimeout(resolve, 20));
        listing--;
        listed++;
        return await base.listTools();
      },
    });
  });
  await until(source, (source) => names(source).includes("first"));
  for (let sent = 0; sent < 1_000; sent++) events?.onToolsChanged();
  await until(source, () => listing === 1);
  events?.onToolsChanged(); // while the list is read, which may be outdated already
  tools.push("second");
  await until(source, (source) => names(source).includes("second"));
  await until(source, () => listed === 3);
  assertEquals(most, 1);
});

Deno.test("errors that come together cause one ping", async () => {
  let pings = 0;
  let events: McpEvents | undefined;
  const answered = Promise.withResolvers<void>();
  await using source = open(({ name }, given) => {
    if (name === "one") events = given;
    const ping = () => {
      pings++;
      return answered.promise;
    };
    return Promise.resolve(session([name], { ping }));
  });
  await until(source, (source) => names(source).length === 3);
  for (let doubt = 0; doubt < 100; doubt++) events?.onError();
  answered.resolve();
  await until(source, () => pings > 0);
  assertEquals(pings, 1);
});

Deno.test("a server with short sessions is connected again with growing pauses", async () => {
  const pauses: unknown[] = [];
  const log = { ...silentLogger, warn: (_: string, fields?: object) => void pauses.push(fields) };
  let given: McpEvents | undefined;
  await using source = open(({ name }, events) => {
    if (name === "two") return neverStarts(events);
    given = events;
    return Promise.resolve(session(["first"]));
  }, { log });
  for (const pause of [1, 2, 4]) {
    await until(source, (source) => stateOf(source, "one") === "ready");
    given?.onClose("it sent too much");
    assertEquals(pauses.at(-1), { server: "one", reason: "it sent too much", retry_ms: pause });
  }
});

Deno.test("a list that is too long is logged", async () => {
  const lines: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => void lines.push(line) };
  const { tools } = await session(["first"]).listTools();
  const listTools = () => Promise.resolve({ tools, leftOut: "over 1000 tools" });
  await using source = open(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    return Promise.resolve(session([], { listTools }));
  }, { log });
  await until(source, (source) => names(source).includes("first"));
  assertEquals(lines, [[
    "the tool list of an MCP server is too long: the rest is left out",
    { server: "one", reason: "over 1000 tools", tools: 1 },
  ]]);
});

Deno.test("tools that are left out are named in the log", async () => {
  const lines: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => void lines.push(line) };
  const { tools } = await session(["first"]).listTools();
  const listTools = () => Promise.resolve({ tools, unusable: ["odd"] });
  await using source = open(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    return Promise.resolve(session([], { listTools }));
  }, { log });
  await until(source, (source) => names(source).includes("first"));
  assertEquals(lines, [[
    "tools of an MCP server are left out: their definitions are invalid",
    { server: "one", left_out: ["odd"] },
  ]]);
});

/** Schemas and arguments whose check would take years. */
const HOSTILE: [string, Record<string, unknown>, unknown][] = [
  ["references that multiply", {
    properties: { n: { $ref: "#/$defs/d0" } },
    $defs: Object.fromEntries(Array.from({ length: 40 }, (_, depth) => {
      const next = { $ref: `#/$defs/d${depth + 1}` };
      return [`d${depth}`, depth < 39 ? { anyOf: [next, next] } : { type: "string" }];
    })),
  }, 5],
  ["a schema of a megabyte", {
    properties: { n: { enum: Array.from({ length: 100_000 }, (_, n) => `value ${n}`) } },
  }, "none"],
];

for (const [what, schema, n] of HOSTILE) {
  Deno.test(`${what} of a server is not checked by the agent, only by the server`, async () => {
    const tools = [{ name: "add", description: "", inputSchema: { type: "object", ...schema } }];
    const listTools = () => Promise.resolve({ tools });
    await using source = open(() => Promise.resolve(session([], { listTools })));
    await until(source, (source) => names(source).includes("add"));
    assert(source.current().find("add")!.schema.safeParse({ n }).success);
  });
}

Deno.test("arguments are checked against the server's schema before the call", async () => {
  await using source = open(() => Promise.resolve(session(["add"])));
  await until(source, (source) => names(source).includes("add"));
  const { schema } = source.current().find("add")!;
  assertEquals([schema.safeParse({}).success, schema.safeParse({ n: 1 }).success], [false, true]);
});

Deno.test("patterns are Unicode patterns of linear time; others are left to the server", async () => {
  const properties = {
    name: { type: "string", pattern: "^\\p{L}+$" },
    one: { type: "string", pattern: "^.$" },
    slow: { type: "string", pattern: "^(a+)+$" },
    ahead: { type: "string", pattern: "^(?=a)" },
    tags: { type: "array", items: { type: "string", pattern: "^#" } },
  };
  const tools = [{ name: "add", description: "", inputSchema: { type: "object", properties } }];
  const listTools = () => Promise.resolve({ tools });
  await using source = open(() => Promise.resolve(session([], { listTools })));
  await until(source, (source) => names(source).includes("add"));
  const { schema } = source.current().find("add")!;
  const cases: [Record<string, unknown>, boolean][] = [
    [{ name: "Zoë", one: "🎈", slow: "aaa", ahead: "b", tags: ["#a"] }, true],
    [{ name: "Łódź" }, true],
    [{ name: "R2D2" }, false],
    [{ one: "ab" }, false],
    [{ slow: "a".repeat(50) + "b" }, false],
    [{ tags: ["#a", "b"] }, false],
    [{}, true],
  ];
  for (const [args, isValid] of cases) {
    assertEquals(schema.safeParse(args).success, isValid, JSON.stringify(args));
  }
  const { error } = schema.safeParse({ tags: ["#a", "b"] });
  assertEquals(error?.issues[0]?.path, ["tags", 1]);
});
