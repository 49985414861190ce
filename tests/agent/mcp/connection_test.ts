import { assertEquals } from "@std/assert";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import type { McpEvents } from "../../../agent/mcp/client.ts";
import type { McpToolList } from "../../../agent/mcp/tool_list.ts";
import { silentLogger } from "../../../shared/log.ts";
import {
  names,
  neverStarts,
  openSource,
  session,
  sourceBecomes,
  stateOf,
} from "../../fakes/mcp_sessions.ts";

Deno.test("if a server cannot list its tools, the reason contains no text of the server", async () => {
  const listTools = () => Promise.reject(new Error("Error POSTing to endpoint: s3cret"));
  await using source = openSource(() => Promise.resolve(session([], { listTools })));
  await sourceBecomes(source, (source) => stateOf(source, "one") === "down");
  assertEquals(source.describe().servers[0]?.error, "it cannot list its tools");
});

Deno.test("a list that a server refuses is reported without the service's own keys", async () => {
  const listTools = () => Promise.reject(new McpError(-32603, "no tools for planted-s"));
  const redact = (text: string) => text.replaceAll("planted-s", "[secret]");
  await using source = openSource(() => Promise.resolve(session([], { listTools })), { redact });
  await sourceBecomes(source, (source) => stateOf(source, "one") === "down");
  assertEquals(source.describe().servers[0]?.error, "no tools for [secret]");
});

Deno.test("a list that changes is read again", async () => {
  const events: McpEvents[] = [];
  const tools = ["first"];
  await using source = openSource(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    events.push(given);
    return Promise.resolve(session(tools));
  });
  await sourceBecomes(source, (source) => names(source).includes("first"));
  tools.push("second");
  events[0]?.onToolsChanged();
  await sourceBecomes(source, (source) => names(source).includes("second"));
  assertEquals(names(source), ["echo", "first", "second"]);
});

Deno.test("a server that announces changes endlessly is asked for one list at a time", async () => {
  let listed = 0;
  let listing = 0;
  let most = 0;
  let events: McpEvents | undefined;
  const tools = ["first"];
  await using source = openSource(({ name }, given) => {
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
  await sourceBecomes(source, (source) => names(source).includes("first"));
  for (let sent = 0; sent < 1_000; sent++) events?.onToolsChanged();
  await sourceBecomes(source, () => listing === 1);
  events?.onToolsChanged(); // while the list is read, which may be outdated already
  tools.push("second");
  await sourceBecomes(source, (source) => names(source).includes("second"));
  await sourceBecomes(source, () => listed === 3);
  assertEquals(most, 1);
});

Deno.test("errors that come together cause one ping", async () => {
  let pings = 0;
  let events: McpEvents | undefined;
  const answered = Promise.withResolvers<void>();
  await using source = openSource(({ name }, given) => {
    if (name === "one") events = given;
    const ping = () => {
      pings++;
      return answered.promise;
    };
    return Promise.resolve(session([name], { ping }));
  });
  await sourceBecomes(source, (source) => names(source).length === 3);
  for (let doubt = 0; doubt < 100; doubt++) events?.onError();
  answered.resolve();
  await sourceBecomes(source, () => pings > 0);
  assertEquals(pings, 1);
});

Deno.test("a server with short sessions is connected again with growing pauses", async () => {
  const pauses: unknown[] = [];
  const log = { ...silentLogger, warn: (_: string, fields?: object) => void pauses.push(fields) };
  let given: McpEvents | undefined;
  await using source = openSource(({ name }, events) => {
    if (name === "two") return neverStarts(events);
    given = events;
    return Promise.resolve(session(["first"]));
  }, { log });
  for (const pause of [1, 2, 4]) {
    await sourceBecomes(source, (source) => stateOf(source, "one") === "ready");
    given?.onClose("it sent too much");
    assertEquals(pauses.at(-1), { server: "one", reason: "it sent too much", retry_ms: pause });
  }
});

/** The lines of the log about a list of one tool, of which something is left out; it is read twice. */
async function warningsAbout(more: Pick<McpToolList, "leftOut" | "unusable">): Promise<unknown[]> {
  const lines: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => void lines.push(line) };
  const { tools } = await session(["first"]).listTools();
  let readings = 0;
  const listTools = () => {
    readings++;
    return Promise.resolve({ tools, ...more });
  };
  let events: McpEvents | undefined;
  await using source = openSource(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    events = given;
    return Promise.resolve(session([], { listTools }));
  }, { log });
  await sourceBecomes(source, (source) => names(source).includes("first"));
  events?.onToolsChanged();
  await sourceBecomes(source, () => readings === 2);
  await new Promise((resolve) => setTimeout(resolve));
  return lines;
}

Deno.test("a list that is too long is logged", async () => {
  assertEquals(await warningsAbout({ leftOut: "over 1000 tools" }), [[
    "the tool list of an MCP server is too long: the rest is left out",
    { server: "one", reason: "over 1000 tools", tools: 1 },
  ]]);
});

Deno.test("tools that are left out are named in the log", async () => {
  assertEquals(await warningsAbout({ unusable: ["odd"] }), [[
    "tools of an MCP server are left out: they cannot be used",
    { server: "one", left_out: ["odd"] },
  ]]);
});
