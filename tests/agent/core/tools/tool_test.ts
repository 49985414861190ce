import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { z } from "zod";
import { AgentConfig } from "../../../../agent/config.ts";
import { createTools } from "../../../../agent/core/tools/mod.ts";
import {
  createToolbox,
  observeTools,
  type Tool,
  ToolError,
} from "../../../../agent/core/tools/tool.ts";
import { createWebSearch } from "../../../../agent/core/tools/web_search.ts";
import { ConfigError, parseConfig } from "../../../../shared/service/config.ts";
import { isAbort } from "../../../../shared/service/errors.ts";
import { createPublicFetch } from "../../../../shared/http/public_fetch.ts";
import { createMetrics } from "../../../../shared/service/ops/metrics.ts";
import { createTool, html, read, refusal, siteUrl, toolOf } from "../../../fakes/fetch_url_tool.ts";
import {
  errorStatus,
  hang,
  json,
  raw,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";
// the client of public addresses has timers that outlive a test
import { test } from "../../../fakes/leaky.ts";

test("the model sees each tool's name, description and arguments", () => {
  const { definitions, names } = createToolbox(createTools(parseConfig(AgentConfig, {})));
  assertEquals(names, ["current_time", "calculator"]);
  assertEquals(definitions[0], {
    name: "current_time",
    description: "The current date, time and weekday in a time zone.",
    parameters: {
      type: "object",
      properties: {
        time_zone: {
          default: "UTC",
          description: "IANA time zone, for example Europe/Berlin; UTC when left out",
          type: "string",
        },
      },
    },
  });
  assertEquals(definitions[1]?.parameters.required, ["expression"]);
});

test("a tool is found by its own name only", () => {
  const toolbox = createToolbox(createTools(parseConfig(AgentConfig, {})));
  assertEquals(toolbox.find("calculator")?.name, "calculator");
  assertEquals(toolbox.find("toString"), undefined);
});

test("tools that are renamed again and again do not create endless metrics", async () => {
  const metrics = createMetrics({ runs: () => 0 });
  const tool = (name: string): Tool => ({
    name,
    description: "",
    schema: z.object({}),
    run: () => "done",
  });
  let toolbox = createToolbox([]);
  const tools = observeTools({
    current: () => toolbox,
    describe: () => ({ tools: [], servers: [] }),
  }, metrics);
  for (let round = 0; round < 3_000; round++) {
    toolbox = createToolbox([tool(`tool-${round}`)]);
    await tools.current().find(`tool-${round}`)!.run({}, {});
  }
  const lines = (await metrics.text()).split("\n")
    .filter((line) => line.startsWith("assay_tool_calls_total{"));
  assertEquals(lines.length, 1_001);
  assertEquals(lines.at(-1), 'assay_tool_calls_total{tool="other",outcome="ok"} 2000');
});

test("a tool whose caller has left is counted as left, one at its time limit as an error", async () => {
  const metrics = createMetrics({ runs: () => 0 });
  const toolbox = createToolbox([{
    name: "slow",
    description: "",
    schema: z.object({}),
    run: (_args, { signal }) => {
      throw new DOMException(signal?.aborted ? "given up" : "a part was given up", "AbortError");
    },
  }]);
  const tools = observeTools({
    current: () => toolbox,
    describe: () => ({ tools: [], servers: [] }),
  }, metrics);
  const late = AbortSignal.abort(new DOMException("late", "TimeoutError"));
  for (const signal of [AbortSignal.abort(), new AbortController().signal, late]) {
    await assertRejects(async () => await tools.current().find("slow")!.run({}, { signal }));
  }
  const lines = (await metrics.text()).split("\n")
    .filter((line) => line.startsWith("assay_tool_calls_total{"));
  assertEquals(lines, [
    'assay_tool_calls_total{tool="slow",outcome="left"} 1',
    'assay_tool_calls_total{tool="slow",outcome="error"} 2',
  ]);
});

const QUERY = { query: "deno", max_results: 2 };

test("a search sends its key and lists the results", async () => {
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

test("a search that finds nothing says so, or what the service answers by itself", async () => {
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

test("the key does not follow a redirect of the search service", async () => {
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

test("a failed search does not show the service's message", async () => {
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

test("AGENT_TOOLS selects the tools, and web_search needs its key", () => {
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

const PUBLIC = "93.184.215.14";

test("a URL that is too long is refused, also in a redirect", async () => {
  const long = `/${"a".repeat(3_000)}`;
  assertStringIncludes(await refusal(() => read(html("x"), long)), "over 2048 characters");
  const redirect = () => new Response(null, { status: 302, headers: { location: long } });
  assertStringIncludes(await refusal(() => read(redirect)), "over 2048 characters");
});

test("content that is not text, error statuses and invalid URLs are refused", async () => {
  assertStringIncludes(
    await refusal(() => read(html("x", "image/png"))),
    "image/png is not text",
  );
  assertStringIncludes(await refusal(() => read(raw(new Uint8Array(1)))), "is not text");
  assertStringIncludes(
    await refusal(() => read(raw("gone", { status: 404 }))),
    "status 404",
  );
  const run = (url: string) => refusal(async () => await toolOf().run({ url }, {}));
  assertStringIncludes(await run("file:///etc/passwd"), "only http and https");
  assertStringIncludes(await run("gopher://x"), "only http and https");
  assertStringIncludes(await run("nonsense"), "not an absolute URL");
  assertStringIncludes(await run("http://u:p@site.test/"), "password");
});

test("private, loopback, link-local and metadata addresses are refused, however written", async () => {
  const hosts = [
    "127.0.0.1",
    "localhost",
    "0.0.0.0",
    "10.0.0.8",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "224.0.0.1",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fd00::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::7f00:1]",
  ];
  const tool = createTool();
  for (const host of hosts) {
    const told = await refusal(async () => await tool.run({ url: `http://${host}/` }, {}));
    assertStringIncludes(told, "not public", host);
  }
});

test("a host is refused if any of its addresses is not public", async () => {
  await using double = await startProviderDouble(html("inside"));
  const tool = toolOf(() => [PUBLIC, "10.0.0.8"]);
  const told = await refusal(async () => await tool.run({ url: siteUrl(double) }, {}));
  assertStringIncludes(told, "not public");
  assertEquals(double.requests.length, 0);
});

test("each redirect is checked as the first address was", async () => {
  const port = (origin: string) => new URL(origin).port;
  await using inside = await startProviderDouble(html("the secret"));
  for (const target of [`http://10.0.0.8/`, `http://inside.test:${port(inside.origin)}/`]) {
    const redirect = () => new Response(null, { status: 302, headers: { location: target } });
    await using outside = await startProviderDouble(redirect);
    const tool = toolOf((name) => name === "site.test" ? ["127.0.0.1"] : ["192.168.0.9"]);
    const told = await refusal(async () => await tool.run({ url: siteUrl(outside) }, {}));
    assertStringIncludes(told, "not public");
    assertEquals(outside.requests.length, 1);
  }
  assertEquals(inside.requests.length, 0);
});

test("a redirect to another scheme is refused, one within the site is followed", async () => {
  const to = (location: string) => () => new Response(null, { status: 302, headers: { location } });
  assertStringIncludes(await refusal(() => read(to("file:///etc/passwd"))), "only http and https");
  assertEquals(await read([to("/next"), html("there", "text/plain")]), "there");
  assertStringIncludes(await refusal(() => read(to("/again"))), "more than 5 redirects");
});

test("a host is looked up once, so it cannot change its address after the check", async () => {
  await using inside = await startProviderDouble(html("the secret", "text/plain"));
  // The first lookup returns a public address, a second one would return a private address.
  const answers = [PUBLIC, "127.0.0.1"];
  let asked = 0;
  const tool = createTool({
    connect: createPublicFetch({
      resolve: () => {
        const address = answers[Math.min(asked++, 1)]!;
        return Promise.resolve([{ address, family: 4 }]);
      },
    }),
    timeoutMs: 300,
  });
  await refusal(async () => await tool.run({ url: siteUrl(inside) }, {}));
  assertEquals([asked, inside.requests.length], [1, 0]);
});

test("a page that takes too long is given up", async () => {
  await using double = await startProviderDouble(hang());
  const tool = createTool({
    connect: createPublicFetch({
      resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
      isPublic: () => true,
    }),
    timeoutMs: 50,
  });
  const told = await refusal(async () => await tool.run({ url: siteUrl(double) }, {}));
  assertStringIncludes(told, "took too long");
  await double.aborted();
});

test("a caller that leaves closes the page's socket", async () => {
  await using double = await startProviderDouble(hang());
  const controller = new AbortController();
  const reading = toolOf().run({ url: siteUrl(double) }, { signal: controller.signal });
  await double.received();
  controller.abort(new DOMException("left", "AbortError"));
  assert(isAbort(await assertRejects(async () => await reading)));
  await double.aborted();
});
