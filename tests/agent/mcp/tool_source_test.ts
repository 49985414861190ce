import { assert, assertEquals } from "@std/assert";
import type { McpEvents } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { nameTools } from "../../../agent/mcp/tool_source.ts";
import { observeTools } from "../../../agent/core/tools/tool.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { createMetrics } from "../../../shared/service/ops/metrics.ts";
import {
  names,
  neverStarts,
  openSource,
  session,
  sourceBecomes,
  stateOf,
} from "../../fakes/mcp_sessions.ts";

Deno.test("servers' tools join the built-in ones, with a prefix only if names clash", async () => {
  const offers: Record<string, string[]> = { one: ["echo", "add"], two: ["add", "only"] };
  await using source = openSource(({ name }) => Promise.resolve(session(offers[name]!)));
  await sourceBecomes(source, (source) => names(source).length === 5);
  assertEquals(names(source), ["echo", "one_echo", "add", "two_add", "only"]);
  const { tools } = source.describe();
  assertEquals(tools.map(({ source }) => source), ["built-in", "one", "one", "two", "two"]);
  assertEquals(await source.current().find("add")?.run({ n: 1 }, {}), "add said so");
});

Deno.test("tool names are unique and valid, whatever names the servers use", () => {
  const long = "x".repeat(80);
  const offers: [string, string][] = [
    ["one", "add"],
    ["two", "add"],
    ["a b", "get weather"],
    ["one", long],
    ["two", long],
    ["two", `${long}!`],
  ];
  const lists = offers.map(([server, tool]): [string, string[]] => [server, [tool]]);
  const nameOf = nameTools(["one_add"], lists);
  const named = offers.map(([server, tool]) => nameOf(server, tool));
  assertEquals(new Set([...named, "one_add"]).size, 7);
  assert(named.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)), named.join());
  const again = nameTools(["one_add"], lists);
  assertEquals(offers.map(([server, tool]) => again(server, tool)), named);
});

Deno.test("more tools than some models take are warned about once", async () => {
  const warnings: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) };
  const tools = Array.from({ length: 127 }, (_, at) => `tool_${at}`);
  const events: Record<string, McpEvents> = {};
  await using source = openSource(({ name }, handlers) => {
    events[name] = handlers;
    return Promise.resolve(session(name === "one" ? tools : ["more", "still_more"]));
  }, { log });
  await sourceBecomes(source, (source) => names(source).length === 130);
  events.two!.onToolsChanged();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assertEquals(warnings, [[
    "some models accept fewer tools than there are: they get the first of GET /tools",
    { tools: 130, first: 128 },
  ]]);
});

Deno.test("a tool keeps its name while the service runs, whoever else comes and goes", async () => {
  const events: Record<string, McpEvents> = {};
  const isUp = { one: true, two: false };
  await using source = openSource(({ name }, handlers) => {
    events[name] = handlers;
    return isUp[name as "one"]
      ? Promise.resolve(session(["add"]))
      : Promise.reject(new Error("no"));
  });
  await sourceBecomes(source, (source) => stateOf(source, "one") === "ready");
  assertEquals(names(source), ["echo", "add"]);
  isUp.two = true;
  await sourceBecomes(source, (source) => stateOf(source, "two") === "ready");
  assertEquals(names(source), ["echo", "add", "two_add"]);
  isUp.one = false;
  events.one!.onClose("gone");
  await sourceBecomes(source, (source) => names(source).length === 2);
  assertEquals(names(source), ["echo", "two_add"]);
});

Deno.test("names are decided by the order in the file, not by who starts first", async () => {
  const first = Promise.withResolvers<void>();
  await using source = openSource(async ({ name }) => {
    if (name === "one") await first.promise;
    return session(["add"]);
  });
  await sourceBecomes(source, (source) => stateOf(source, "two") === "ready");
  assertEquals(names(source), ["echo", "add"]);
  first.resolve();
  await sourceBecomes(source, (source) => stateOf(source, "one") === "ready");
  assertEquals(names(source), ["echo", "add", "two_add"]);
  const { tools } = source.describe();
  assertEquals(tools.map(({ source }) => source), ["built-in", "one", "two"]);
});

Deno.test("tools that the entry switches off are not offered, and names that the server lacks are logged", async () => {
  const warnings: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) };
  const { servers } = parseMcpConfig(JSON.stringify({
    mcpServers: {
      one: { command: "one", deny: ["remove", "gone"] },
      two: { command: "two", allow: ["read", "write"], deny: ["write"] },
      three: { command: "three" },
      four: { command: "four", allow: [] },
    },
  }));
  const offers: Record<string, string[]> = {
    one: ["add", "remove"],
    two: ["read", "write", "move"],
    three: ["any"],
    four: ["none"],
  };
  await using source = openSource(({ name }) => Promise.resolve(session(offers[name]!)), {
    servers,
    log,
  });
  await sourceBecomes(
    source,
    (source) => source.describe().servers.every(({ state }) => state === "ready"),
  );
  assertEquals(names(source), ["echo", "add", "read", "any"]);
  assertEquals(warnings, [[
    "an MCP server does not have tools that its entry allows or denies",
    { server: "one", tools: ["gone"] },
  ]]);
});

Deno.test("a server that is down or slow loses only its own tools, is reported, and is tried again", async () => {
  let attempts = 0;
  let isUp = false;
  await using source = openSource(({ name }, given) => {
    if (name === "two") return neverStarts(given); // slow: it never answers
    attempts++;
    return isUp
      ? Promise.resolve(session(["add"]))
      : Promise.reject(new Error("connection refused"));
  });
  assertEquals(names(source), ["echo"]);
  await sourceBecomes(source, (source) => attempts > 1 && stateOf(source, "one") === "down");
  const [one] = source.describe().servers;
  assertEquals([one?.error, typeof one?.retry_at], ["connection refused", "string"]);
  isUp = true;
  await sourceBecomes(source, (source) => stateOf(source, "one") === "ready");
  assertEquals(names(source), ["echo", "add"]);
  assertEquals(stateOf(source, "two"), "connecting");
});

Deno.test("observed tools close their sessions too", async () => {
  const closed: string[] = [];
  const source = openSource(({ name }) =>
    Promise.resolve(session([name], {
      close: () => {
        closed.push(name);
        return name === "one" ? Promise.reject(new Error("gone")) : Promise.resolve();
      },
    }))
  );
  await sourceBecomes(source, (source) => names(source).length === 3);
  await observeTools(source, createMetrics({ runs: () => 0 }))[Symbol.asyncDispose]();
  assertEquals(closed, ["one", "two"]);
});

Deno.test("the tools of a server disappear when it ends, and return with it", async () => {
  let events: McpEvents | undefined;
  let opened = 0;
  await using source = openSource(({ name }, given) => {
    if (name === "one") events = given;
    if (name === "one" && opened++ > 0) return neverStarts(given);
    return Promise.resolve(session([`${name}_tool`]));
  });
  await sourceBecomes(source, (source) => names(source).length === 3);
  events?.onClose("it ended");
  assertEquals(names(source), ["echo", "two_tool"]);
  await sourceBecomes(source, () => opened === 2);
});
