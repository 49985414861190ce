import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { AppError } from "../../shared/errors.ts";
import { createLogger } from "../../shared/log.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import { AgentReply } from "../../agent/schemas/agent.ts";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
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
