import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import OpenAI from "openai";
import { APIError } from "openai";
import { AgentConfig, explainIdleSettings } from "../../agent/config.ts";
import { AgentReply } from "../../agent/core/agent_message.ts";
import {
  createFixedTools,
  observeTools,
  type ToolServerState,
} from "../../agent/core/tools/tool.ts";
import { checkMcp, createAgentDeps } from "../../agent/wiring.ts";
import { ConfigError, parseConfig } from "../../shared/service/config.ts";
import { AppError } from "../../shared/service/errors.ts";
import { createLogger, silentLogger } from "../../shared/service/log.ts";
import { createMetrics } from "../../shared/service/ops/metrics.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { readEvents } from "../fakes/events.ts";
import { providerOf } from "../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  errorStatus,
  json,
  startProviderDouble,
} from "../fakes/provider_double.ts";
import { createScriptedProvider, never } from "../fakes/scripted_provider.ts";

const BODY = { messages: [{ type: "human", content: "Hi" }] };
const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";

Deno.test("POST / returns the agent's last message", async () => {
  const provider = createScriptedProvider({ content: "Hello" });
  const response = await agentService(provider).service(agentRequestOf(BODY));
  assertEquals(response.status, 200);
  assertMatch(response.headers.get("content-type") ?? "", /^application\/json/);
  const reply = await response.json();
  assertEquals(AgentReply.parse(reply), reply);
  const { tool_events: _, ...always } = AgentReply.shape; // only if they are asked for
  assertEquals(Object.keys(reply), Object.keys(always));
  assertEquals(reply.content, "Hello");
});

Deno.test("the model, system prompt, tools and settings are sent to the provider", async () => {
  const provider = createScriptedProvider({});
  const { service } = agentService(provider, {
    environment: {
      AGENT_SYSTEM_PROMPT: "Be kind.",
      AGENT_TEMPERATURE: "0",
      AGENT_MAX_TOKENS: "7",
    },
  });
  await service(agentRequestOf(BODY, { headers: { "x-model-id": "  org/model/v1 " } }));
  const [request] = provider.requests;
  assertEquals(request?.model, "org/model/v1");
  assertEquals(request?.messages, [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi" },
  ]);
  assertEquals(request?.tools?.map(({ name }) => name), ["current_time", "calculator"]);
  assertEquals([request?.temperature, request?.maxTokens], [0, 7]);
});

Deno.test("x-model-id selects the studio or the hub", async () => {
  const cases: [string, string][] = [[UUID, "studio"], ["org/model", "hub"]];
  for (const [id, target] of cases) {
    const { service, asked } = agentService(createScriptedProvider({}));
    await service(agentRequestOf(BODY, { headers: { "x-model-id": id } }));
    assertEquals(asked, [target]);
  }
});

Deno.test("an invalid request gets an error with its code, without a provider call", async () => {
  const cases: [unknown, Record<string, string>, number, string, string][] = [
    [BODY, { "x-model-id": "" }, 400, "missing_model_id", "x-model-id"],
    [BODY, { "x-model-id": "  " }, 400, "missing_model_id", "x-model-id"],
    [BODY, { "x-model-id": "gpt-4o" }, 400, "invalid_model_id", "UUID nor <provider>/<model>"],
    [BODY, { "x-model-id": "/model" }, 400, "invalid_model_id", "/model"],
    ["{", {}, 400, "invalid_json", "not JSON"],
    ["{", { "x-model-id": "gpt-4o" }, 400, "invalid_model_id", "gpt-4o"],
    [{}, {}, 400, "invalid_request", "messages"],
    [{ messages: [] }, {}, 400, "invalid_request", "messages"],
    [{ messages: [{ type: "human" }] }, {}, 400, "invalid_request", "messages.0.content"],
    [{ messages: [{ type: "x", content: "" }] }, {}, 400, "invalid_request", "messages.0.type"],
    [{ messages: [{ type: "ai", content: " " }] }, {}, 400, "invalid_request", "messages"],
    [BODY, { "content-type": "text/plain" }, 415, "unsupported_media_type", "application/json"],
    [BODY, { origin: "https://evil.example" }, 403, "forbidden_origin", "CORS_ORIGINS"],
  ];
  for (const [body, headers, status, code, detail] of cases) {
    const provider = createScriptedProvider({});
    const response = await agentService(provider).service(agentRequestOf(body, { headers }));
    const problem = await response.json();
    assertEquals([response.status, problem.code], [status, code]);
    assertStringIncludes(problem.detail, detail);
    assertEquals(response.headers.get("content-type"), "application/problem+json");
    assertEquals(problem.request_id, response.headers.get("x-request-id"));
    assertEquals(provider.requests, []);
  }
});

Deno.test("a request without x-model-id gets missing_model_id", async () => {
  const request = agentRequestOf(BODY);
  request.headers.delete("x-model-id");
  const response = await agentService(createScriptedProvider({})).service(request);
  assertEquals((await response.json()).code, "missing_model_id");
});

Deno.test("unknown fields are accepted", async () => {
  const body = { messages: [{ type: "human", content: "Hi", id: "m1", example: false }], x: 1 };
  const response = await agentService(createScriptedProvider({})).service(agentRequestOf(body));
  assertEquals(response.status, 200);
});

Deno.test("a provider's failure has its own status and code", async () => {
  const failures: [AppError, number][] = [
    [new ProviderError(502, "provider_auth", "no", { kind: "status", status: 401 }), 502],
    [new ProviderError(504, "provider_timeout", "slow", { kind: "timeout" }), 504],
    [
      new ProviderError(429, "rate_limited", "busy", { kind: "status", status: 429 }, {
        headers: { "retry-after": "7" },
      }),
      429,
    ],
    [new ProviderError(404, "model_not_found", "who", { kind: "status", status: 404 }), 404],
  ];
  for (const [error, status] of failures) {
    const response = await agentService(createScriptedProvider(error)).service(
      agentRequestOf(BODY),
    );
    assertEquals([response.status, (await response.json()).code], [status, error.code]);
    assertEquals(response.headers.get("retry-after"), error.headers["retry-after"] ?? null);
  }
});

Deno.test("an internal error is not described to the caller", async () => {
  const provider = createScriptedProvider(new TypeError("secret of the inside"));
  const response = await agentService(provider).service(agentRequestOf(BODY));
  const text = await response.text();
  assertEquals([response.status, JSON.parse(text).code], [500, "internal"]);
  assert(!text.includes("secret"));
});

Deno.test("a client that leaves ends the run", async () => {
  const left = Promise.withResolvers<void>();
  const provider = createScriptedProvider((_, { signal }) => {
    signal?.addEventListener("abort", () => left.resolve());
    return never();
  });
  const controller = new AbortController();
  const answer = agentService(provider).service(
    agentRequestOf(BODY, { signal: controller.signal }),
  );
  setTimeout(() => controller.abort(), 10);
  assertEquals((await answer).status, 499);
  await left.promise;
});

Deno.test("the log line of a request has the model and its cost", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const usage = {
    promptTokens: 5,
    completionTokens: 2,
    totalTokens: 7,
    promptDetails: null,
    completionDetails: null,
  };
  await agentService(createScriptedProvider({ usage }), { log }).service(agentRequestOf(BODY));
  assertEquals(lines.length, 1);
  const { model, input_tokens, output_tokens, model_calls, tool_calls } = JSON.parse(lines[0]!);
  assertEquals([model, input_tokens, output_tokens, model_calls, tool_calls], ["a/b", 5, 2, 1, 0]);
});

Deno.test("a tool message in the history is sent to the provider with its call", async () => {
  const provider = createScriptedProvider({});
  const messages = [...BODY.messages, { type: "tool", content: "12:00", name: "clock" }];
  await agentService(provider).service(agentRequestOf({ messages }));
  const sent = provider.requests[0]?.messages ?? [];
  assertEquals(sent.map(({ role }) => role), ["system", "user", "assistant", "tool"]);
});

Deno.test("GET /studio/models returns the names and UUIDs of the fine-tuned models", async () => {
  const models = {
    providerFor: () => createScriptedProvider({}),
    listStudio: () => Promise.resolve({ tuned: UUID }),
    listHub: () => Promise.resolve({ models: [], hidden: [] }),
  };
  const { service } = agentService(createScriptedProvider({}), { models });
  const response = await service(new Request("http://127.0.0.1:8000/studio/models"));
  assertEquals([response.status, await response.json()], [200, { tuned: UUID }]);
});

Deno.test("GET / describes the service, and names the demo model if it is used", async () => {
  const { service } = agentService(createScriptedProvider({}));
  const index = await (await service(new Request("http://127.0.0.1:8000/"))).json();
  assertEquals(index.name, "assay-agent");
  assertEquals(Object.keys(index.endpoints).slice(0, 2), ["POST /", "GET /studio/models"]);
  assertEquals(index.demo_model, undefined);
  const provider = createScriptedProvider({});
  const demo = agentService(provider, {
    models: {
      demoModel: "demo/assistant",
      providerFor: () => provider,
      listStudio: () => Promise.resolve({}),
      listHub: () => Promise.resolve({ models: [], hidden: [] }),
    },
  });
  const answer = await demo.service(new Request("http://127.0.0.1:8000/"));
  assertEquals((await answer.json()).demo_model, "demo/assistant");
});

Deno.test("unknown paths are 404, wrong methods are 405", async () => {
  const { service } = agentService(createScriptedProvider({}));
  const unknown = await service(new Request("http://127.0.0.1:8000/nope"));
  assertEquals([unknown.status, (await unknown.json()).code], [404, "not_found"]);
  const wrong = await service(new Request("http://127.0.0.1:8000/", { method: "PUT" }));
  assertEquals([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD, POST"]);
});

function check(...states: ToolServerState["state"][]) {
  const servers = states.map((state, index): ToolServerState => ({
    name: `server-${index}`,
    transport: "http",
    state,
    tools: 0,
    ...(state === "down" && { error: "it refused the connection" }),
  }));
  return checkMcp({ ...createFixedTools([]), describe: () => ({ tools: [], servers }) })();
}

Deno.test("readiness names the MCP servers that are not ready, without their errors", () => {
  assertEquals(check("ready", "down", "connecting"), "server-1 is down, server-2 is connecting");
});

Deno.test("readiness says nothing if all MCP servers are ready, or if there are none", () => {
  assertEquals([check("ready"), check()], [undefined, undefined]);
});

Deno.test("the restarts of the worker that reads pages are among the agent's figures", async () => {
  const config = parseConfig(AgentConfig, { AGENT_TOOLS: "fetch_url" });
  const { metrics, tools } = await createAgentDeps(config, silentLogger);
  assertStringIncludes(await metrics.text(), 'assay_worker_restarts_total{worker="page"} 0');
  await tools[Symbol.asyncDispose]();
});

Deno.test("calls of tools are counted by tool and outcome, those of unknown tools not at all", async () => {
  const metrics = createMetrics({ runs: () => 0 });
  const deps = await createAgentDeps(parseConfig(AgentConfig, {}), silentLogger);
  const call = (name: string, expression: string) => ({
    id: "",
    name,
    arguments: JSON.stringify({ expression }),
  });
  const toolCalls = [call("calculator", "1+1"), call("calculator", "1/0"), call("unknown", "1")];
  const { service } = agentService(createScriptedProvider({ toolCalls }, { content: "2" }), {
    tools: observeTools(deps.tools, metrics),
    operations: { metrics, checks: {} },
  });
  await service(agentRequestOf(BODY));
  const figures = await (await service(new Request("http://127.0.0.1/metrics"))).text();
  assertEquals(figures.match(/^assay_tool_calls_total.*/gm)?.toSorted(), [
    'assay_tool_calls_total{tool="calculator",outcome="error"} 1',
    'assay_tool_calls_total{tool="calculator",outcome="ok"} 1',
  ]);
});

Deno.test("with a list of fine-tuned models alone the agent is not ready, and says what is missing", async () => {
  const readiness = async (environment: Record<string, string>) => {
    const deps = await createAgentDeps(parseConfig(AgentConfig, environment), silentLogger);
    return await deps.operations!.checks.providers!();
  };
  const STUDIO_MODELS = '{"support":"3fa85f64-5717-4562-b3fc-2c963f66afa6"}';
  assertStringIncludes(await readiness({ STUDIO_MODELS }) ?? "", "set STUDIO_BASE_URL");
  assertEquals(
    await readiness({ STUDIO_MODELS, STUDIO_BASE_URL: "http://127.0.0.1:9" }),
    undefined,
  );
  assertEquals(await readiness({}), undefined);
});

Deno.test("the agent starts with an empty environment", () => {
  const config = parseConfig(AgentConfig, {});
  assertEquals([config.AGENT_PORT, config.HOST, config.AGENT_MAX_STEPS], [8000, "127.0.0.1", 12]);
  assertEquals([config.HUB_BASE_URL, config.STUDIO_BASE_URL, config.STUDIO_MODELS], [
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals([config.AGENT_TEMPERATURE, config.AGENT_MAX_TOKENS], [undefined, undefined]);
  assertEquals(config.AGENT_SYSTEM_PROMPT.length > 0, true);
});

Deno.test("port 0 and temperature 0 count as set", () => {
  const config = parseConfig(AgentConfig, { AGENT_PORT: "0", AGENT_TEMPERATURE: "0" });
  assertEquals([config.AGENT_PORT, config.AGENT_TEMPERATURE], [0, 0]);
});

Deno.test("an invalid value stops the start, and the error names its variable", () => {
  const cases: [string, string][] = [
    ["AGENT_PORT", "70000"],
    ["AGENT_PORT", "eighty"],
    ["AGENT_MAX_STEPS", "0"],
    // A timer of more than 2^31 - 1 ms would end at once.
    ["MODEL_TIMEOUT_MS", "2147483648"],
    ["SHUTDOWN_GRACE_MS", "2147483648"],
    ["SHUTDOWN_GRACE_MS", "2147483648"],
    ["TOOL_TIMEOUT_MS", "2147483648"],
    ["AGENT_TEMPERATURE", "hot"],
    ["AGENT_TEMPERATURE", "3"],
    ["AGENT_MAX_TOKENS", "1.5"],
    ["HUB_BASE_URL", "ftp://hub"],
    ["STUDIO_BASE_URL", "studio"],
    ["STUDIO_MODELS", "not json"],
    ["STUDIO_MODELS", '{"a": 1}'],
    ["STUDIO_MODELS", '{"a": "not-a-uuid"}'],
    ["HUB_API_KEY", "“k”"],
    ["STUDIO_API_KEY", "a\nb"],
    ["TAVILY_API_KEY", "ключ"],
    ["HUB_BARE_MODELS", "yes"],
    ["MODEL_ALIASES", "fast=acme/small"],
    ["MODEL_ALIASES", '{"fast": "small"}'],
    ["MODEL_ALIASES", '{"3fa85f64-5717-4562-b3fc-2c963f66afa6": "acme/small"}'],
  ];
  for (const [name, value] of cases) {
    const error = assertThrows(() => parseConfig(AgentConfig, { [name]: value }), ConfigError);
    assertStringIncludes(error.message, name);
  }
});

Deno.test("a fine-tuned model with an invalid UUID is named in the error", () => {
  const STUDIO_MODELS = '{"good": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "bad": "x"}';
  const error = assertThrows(() => parseConfig(AgentConfig, { STUDIO_MODELS }), ConfigError);
  assertStringIncludes(error.message, '"bad" needs a UUID');
});

Deno.test("a fallback that is not a hub model is named in the error", () => {
  const { HUB_FALLBACK } = parseConfig(AgentConfig, { HUB_FALLBACK: "a/b, c/d" });
  assertEquals(HUB_FALLBACK, ["a/b", "c/d"]);
  const wrong = () => parseConfig(AgentConfig, { HUB_FALLBACK: "a/b, gpt-4o" });
  assertStringIncludes(assertThrows(wrong, ConfigError).message, '"gpt-4o" is not of the form');
  const bare = { HUB_FALLBACK: "gpt-4o", HUB_BARE_MODELS: "on", MODEL_ALIASES: '{"a": "b"}' };
  assertEquals(parseConfig(AgentConfig, bare).HUB_FALLBACK, ["gpt-4o"]);
});

Deno.test("web_search without its key is not a valid configuration, so that --check says so too", () => {
  const parse = (more: Record<string, string> = {}) =>
    parseConfig(AgentConfig, { AGENT_TOOLS: "calculator,web_search", ...more });
  const { message } = assertThrows(() => parse(), ConfigError);
  assertStringIncludes(message, "AGENT_TOOLS: contains web_search, which needs TAVILY_API_KEY");
  assertEquals(parse({ TAVILY_API_KEY: "k" }).AGENT_TOOLS, ["calculator", "web_search"]);
});

Deno.test("an address with a password beside its key is refused, and the password is not shown", () => {
  const HUB_BASE_URL = "https://me:hunter2@hub.example/v1";
  const both = () => parseConfig(AgentConfig, { HUB_BASE_URL, HUB_API_KEY: "k" });
  const { message } = assertThrows(both, ConfigError);
  assertStringIncludes(message, "HUB_BASE_URL: has a user or a password, and HUB_API_KEY is set");
  assertEquals(message.includes("hunter2"), false);
  assertEquals(parseConfig(AgentConfig, { HUB_BASE_URL }).HUB_BASE_URL, HUB_BASE_URL);
});

Deno.test("a setting that has no effect without another one is named", () => {
  const explain = (environment: Record<string, string>) =>
    explainIdleSettings(parseConfig(AgentConfig, environment));
  const store = { RATE_LIMIT_STORE: "postgres://u:p@host/db" };
  const search = { TAVILY_API_KEY: "k" };
  const fallback = { HUB_FALLBACK: "acme/small" };
  assertEquals(explain({ ...store, ...search, ...fallback }), [
    "RATE_LIMIT_STORE has no effect: RATE_LIMIT is not set",
    "TAVILY_API_KEY has no effect: AGENT_TOOLS does not contain web_search",
    "HUB_FALLBACK has no effect: HUB_BASE_URL is not set",
  ]);
  assertEquals(explain({ ...store, RATE_LIMIT: "60/min" }), []);
  assertEquals(explain({ ...search, AGENT_TOOLS: "web_search" }), []);
  assertEquals(explain({ ...fallback, HUB_BASE_URL: "http://hub" }), []);
  assertEquals(explain({}), []);
});

const TOO_LONG = {
  message: "This model's maximum context length is 8192 tokens.",
  type: "invalid_request_error",
  code: "context_length_exceeded",
  param: "messages",
};
const FILTERED = {
  message: "The prompt triggered the content filter.",
  type: null,
  code: "content_filter",
  param: "prompt",
};
const REFUSED: [status: number, words: typeof TOO_LONG | typeof FILTERED][] = [
  [400, TOO_LONG],
  [402, { ...TOO_LONG, code: "insufficient_credits" }],
  [403, FILTERED],
  [413, TOO_LONG],
  [422, TOO_LONG],
  [451, FILTERED],
];

/** What the openai package throws, with its own retries, and how often the provider was asked. */
async function ask(answer: Answer, { stream, headers = {}, maxRetries = 2 }: {
  stream: boolean;
  headers?: Record<string, string>;
  maxRetries?: number;
}) {
  await using double = await startProviderDouble(answer);
  const { service } = agentService(providerOf(double, { retries: 2 }));
  const client = new OpenAI({
    baseURL: "http://127.0.0.1:8000/v1",
    apiKey: "any",
    maxRetries,
    defaultHeaders: headers,
    fetch: async (input, init) => await service(new Request(input, init)),
  });
  const messages = [{ role: "user" as const, content: "Hi" }];
  const error = await assertRejects(
    async () => await client.chat.completions.create({ model: "acme/small", messages, stream }),
    APIError,
  );
  return { error, calls: double.requests.length };
}

for (const [status, words] of REFUSED) {
  Deno.test(`a provider's ${status} reaches OpenAI's client with its fields, after one call`, async () => {
    for (const stream of [false, true]) {
      for (const headers of [{}, { "x-agent-tools": "off" }]) {
        const { error, calls } = await ask(json({ error: words }, { status }), { stream, headers });
        const { message, code, param, type } = error;
        assertEquals([error.status, calls], [status, 1]);
        assertStringIncludes(message, words.message);
        assertEquals({ code, param }, { code: words.code, param: words.param });
        assertEquals(
          type,
          words.type ?? (status === 403 ? "permission_error" : "invalid_request_error"),
        );
      }
    }
  });

  Deno.test(`a provider's ${status} is a problem with its words on POST /, streamed or not`, async () => {
    await using double = await startProviderDouble(json({ error: words }, { status }));
    const { service } = agentService(providerOf(double, { retries: 2 }));
    const response = await service(agentRequestOf(BODY));
    const problem = await response.json();
    assertEquals([response.status, problem.status, problem.code], [
      status,
      status,
      "provider_refused",
    ]);
    assertEquals(problem.provider, words);
    assertStringIncludes(problem.detail, words.message);

    const headers = { accept: "text/event-stream" };
    const streamed = await service(agentRequestOf(BODY, { headers }));
    const [failed] = await Array.fromAsync(readEvents(streamed));
    assertEquals([streamed.status, failed?.event], [status, "error"]);
    assertEquals(failed?.data.provider, words);
    assertEquals(double.requests.length, 2);
  });
}

const SOON = { headers: { "retry-after-ms": "1" } };
for (const status of [429, 500, 503]) {
  Deno.test(`a ${status} costs the provider's retries, not those of the client times them`, async () => {
    for (const stream of [false, true]) {
      const { error, calls } = await ask(errorStatus(status, SOON), { stream });
      assertEquals([calls, error.headers?.get("x-should-retry")], [3, "false"]);
    }
  });
}

Deno.test("an answer that cannot be read is asked for once, by the service and by its client", async () => {
  for (const stream of [false, true]) {
    const { error, calls } = await ask(json({ id: "1", choices: "none" }), { stream });
    assertEquals([calls, error.status, error.headers?.get("x-should-retry")], [1, 502, "false"]);
  }
});

Deno.test("a 429 about a quota that is used up is not taken for one that a wait ends", async () => {
  const words = { message: "You exceeded your quota.", code: "insufficient_quota" };
  for (const stream of [false, true]) {
    const answer = json({ error: words }, { status: 429, ...SOON });
    const { error } = await ask(answer, { stream, maxRetries: 0 });
    assertEquals([error.status, error.code, error.type], [429, words.code, words.code]);
    assertStringIncludes(error.message, words.message);
  }
});

Deno.test("a provider's 401 is about the configured key: clients do not try again", async () => {
  for (const stream of [false, true]) {
    const { error, calls } = await ask(errorStatus(401), { stream });
    assertEquals([error.status, error.code, calls], [502, "provider_auth", 1]);
  }
});

Deno.test("an empty answer, which was asked for twice, is not asked for again by clients", async () => {
  const { error, calls } = await ask(completion({ content: "" }), { stream: false });
  assertEquals([error.code, calls], ["empty_reply", 2]);
});

Deno.test("a stream that fails at once has the headers of its error", async () => {
  await using double = await startProviderDouble(
    errorStatus(429, { headers: { "retry-after": "7" } }),
  );
  const { service } = agentService(providerOf(double));
  const headers = { accept: "text/event-stream" };
  const response = await service(agentRequestOf(BODY, { headers }));
  assertEquals([response.status, response.headers.get("retry-after")], [429, "7"]);
  await response.body?.cancel();
});
