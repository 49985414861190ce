import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { ToolError } from "../../../agent/tools/tool.ts";
import { AnswerTooLarge } from "../../../shared/http/fetch/outgoing_fetch.ts";
import { names, openSource, session, sourceBecomes } from "../../fakes/mcp_sessions.ts";

Deno.test("the model is told that a server went down during a call, and sees the tool's own error", async () => {
  let isGone = false;
  let failure = new Error("Error POSTing to endpoint (HTTP 500): the key is s3cret");
  await using source = openSource(({ name }) =>
    Promise.resolve(session([name], {
      callTool: () => Promise.reject(name === "one" ? new ToolError("no such city") : failure),
      ping: () => isGone ? Promise.reject(new Error("gone")) : Promise.resolve(),
    }))
  );
  await sourceBecomes(source, (source) => names(source).length === 3);
  const call = (tool: string) =>
    assertRejects(async () => await source.current().find(tool)?.run({ n: 1 }, {}), ToolError);
  assertStringIncludes((await call("one")).message, "no such city");
  assertEquals((await call("two")).message, "the tool two failed: no valid answer from its server");
  failure = new McpError(-32602, "no such unit");
  assertEquals((await call("two")).message, "the tool two failed: no such unit");
  failure = new AnswerTooLarge("too large");
  assertEquals(
    (await call("two")).message,
    "the tool two failed: its result is over 8388608 bytes",
  );
  const kept = source.current().find("two")!;
  isGone = true;
  assertStringIncludes((await call("two")).message, "went down during the call");
  const late = await assertRejects(async () => await kept.run({ n: 1 }, {}), ToolError);
  assertStringIncludes(late.message, "is down");
});

Deno.test("an error in answer to a ping is an answer: the server keeps its tools", async () => {
  await using source = openSource(({ name }) =>
    Promise.resolve(session([name], {
      callTool: () => Promise.reject(new McpError(-32602, "no such ticket")),
      ping: () => Promise.reject(new McpError(-32601, "Method not found")),
    }))
  );
  await sourceBecomes(source, (source) => names(source).length === 3);
  const error = await assertRejects(
    async () => await source.current().find("one")?.run({ n: 1 }, {}),
    ToolError,
  );
  assertEquals(error.message, "the tool one failed: no such ticket");
  assertEquals(names(source), ["echo", "one", "two"]);
});

for (
  const [what, code] of [["a closed connection", -32000], ["no answer in time", -32001]] as const
) {
  Deno.test(`${what} at a ping means that the server is down`, async () => {
    await using source = openSource(({ name }) =>
      Promise.resolve(session([name], {
        callTool: () => Promise.reject(new McpError(code, "gone")),
        ping: () => Promise.reject(new McpError(code, "gone")),
      }))
    );
    await sourceBecomes(source, (source) => names(source).length === 3);
    const error = await assertRejects(
      async () => await source.current().find("one")?.run({ n: 1 }, {}),
      ToolError,
    );
    assertStringIncludes(error.message, "went down during the call");
  });
}

/** How a server may report that a call failed, with the key that it was sent. */
const TELLING: Record<string, Error> = {
  "an error of the protocol": new McpError(-32602, "the key planted-k may not read this"),
  "a result that is an error": new ToolError("the key planted-k may not read this"),
};

for (const [what, failure] of Object.entries(TELLING)) {
  Deno.test(`${what} is shown without the keys of its server`, async () => {
    const { servers } = parseMcpConfig(JSON.stringify({
      mcpServers: {
        one: { url: "http://one.test/mcp", headers: { authorization: "Bearer planted-k" } },
      },
    }));
    const callTool = () => Promise.reject(failure);
    await using source = openSource(({ name }) => Promise.resolve(session([name], { callTool })), {
      servers,
    });
    await sourceBecomes(source, (source) => names(source).length === 2);
    const error = await assertRejects(
      async () => await source.current().find("one")?.run({ n: 1 }, {}),
      ToolError,
    );
    assertStringIncludes(error.message, "the key [secret] may not read this");
  });
}
