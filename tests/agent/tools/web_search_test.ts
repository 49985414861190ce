import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { AgentConfig } from "../../../agent/config.ts";
import { createTools } from "../../../agent/tools/mod.ts";
import { ToolError } from "../../../agent/tools/tool.ts";
import { createWebSearch } from "../../../agent/tools/web_search.ts";
import { ConfigError, parseConfig } from "../../../shared/config/config.ts";
import { errorStatus, json, raw, startProviderDouble } from "../../fakes/provider_double.ts";

const QUERY = { query: "deno", max_results: 2 };

Deno.test("a search sends its key and lists the results", async () => {
  await using double = await startProviderDouble(json({
    results: [
      { title: "Deno", url: "https://deno.com", content: "A runtime.", score: 0.9 },
      { title: "", url: "https://example.com" },
    ],
  }));
  const tool = createWebSearch({ apiKey: "tvly-1", baseUrl: double.origin });
  assertEquals(
    await tool.run(QUERY, {}),
    "1. Deno\nhttps://deno.com\nA runtime.\n\n2. https://example.com\nhttps://example.com",
  );
  const [request] = double.requests;
  assertEquals([request?.path, request?.body], ["/search", QUERY]);
  assertEquals(request?.headers.get("authorization"), "Bearer tvly-1");
});

Deno.test("a search that finds nothing says so, or what the service answers by itself", async () => {
  for (
    const [answer, expected] of [[null, "Nothing was found."], ["", "Nothing was found."], [
      "42",
      "42",
    ]]
  ) {
    await using double = await startProviderDouble(json({ answer, results: [] }));
    const tool = createWebSearch({ apiKey: "tvly-1", baseUrl: double.origin });
    assertEquals(await tool.run(QUERY, {}), expected);
  }
});

Deno.test("the key does not follow a redirect of the search service", async () => {
  await using other = await startProviderDouble(json({ results: [] }));
  const redirect = raw(null as unknown as string, {
    status: 307,
    headers: { location: other.origin },
  });
  await using double = await startProviderDouble(redirect);
  const tool = createWebSearch({ apiKey: "tvly-1", baseUrl: double.origin });
  await assertRejects(async () => await tool.run(QUERY, {}), ToolError, "status 307");
  assertEquals(other.requests.length, 0);
});

Deno.test("a failed search does not show the service's message", async () => {
  const answers = [
    errorStatus(401, { message: "bad key tvly-1" }),
    raw(JSON.stringify({ results: [], answer: "x".repeat(5_000_000) })),
    raw("<html>", { headers: { "content-type": "text/html" } }),
  ];
  for (const answer of answers) {
    await using double = await startProviderDouble(answer);
    const tool = createWebSearch({ apiKey: "tvly-1", baseUrl: double.origin });
    const error = await assertRejects(async () => await tool.run(QUERY, {}), ToolError);
    assert(!error.message.includes("tvly-1"));
    assertEquals(double.requests.length, 1);
  }
});

Deno.test("AGENT_TOOLS selects the tools, and web_search needs its key", () => {
  const named = (environment: Record<string, string>) =>
    createTools(parseConfig(AgentConfig, environment)).map(({ name }) => name);
  assertEquals(named({}), ["current_time", "calculator"]);
  assertEquals(named({ AGENT_TOOLS: "fetch_url,current_time" }), ["current_time", "fetch_url"]);
  assertEquals(named({ AGENT_TOOLS: "none" }), []);
  assertEquals(named({ AGENT_TOOLS: "web_search", TAVILY_API_KEY: "k" }), ["web_search"]);
  const missing = assertThrows(() => named({ AGENT_TOOLS: "web_search" }), ConfigError);
  assertStringIncludes(missing.message, "TAVILY_API_KEY");
  const unknown = assertThrows(() => named({ AGENT_TOOLS: "shell" }), ConfigError);
  assertStringIncludes(unknown.message, "AGENT_TOOLS");
});
