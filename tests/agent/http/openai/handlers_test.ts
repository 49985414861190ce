import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import fc from "seeded-fast-check";
import { AgentConfig } from "../../../../agent/config.ts";
import { createModels, type Models } from "../../../../agent/core/models/models.ts";
import { listModels } from "../../../../agent/http/openai/model_list.ts";
import { parseConfig } from "../../../../shared/service/config.ts";
import { silentLogger } from "../../../../shared/service/log.ts";
import {
  type ChatMessage,
  type ListedModel,
  ProviderError,
} from "../../../../shared/providers/provider.ts";
import { agentService } from "../../../fakes/agent_service.ts";
import { readChunks, readEvents } from "../../../fakes/events.ts";
import { openAIRoutes, SUM, USAGE } from "../../../fakes/openai_routes.ts";
import { createScriptedProvider, never, type Step } from "../../../fakes/scripted_provider.ts";
import { findViolations } from "../../../fakes/strict_provider.ts";

const MESSAGES = [{ role: "user", content: "Hi" }];

interface AskOptions {
  headers?: Record<string, string>;
  environment?: Record<string, string>;
}

function serve(steps: Step[], { environment = {} }: AskOptions = {}) {
  const provider = createScriptedProvider(...steps);
  const { service, post } = openAIRoutes(provider, { environment });
  const ask = (body: Record<string, unknown>, { headers = {} }: AskOptions = {}) =>
    post("chat/completions", { messages: MESSAGES, ...body }, headers);
  return { provider, service, ask };
}

Deno.test("a completion is the agent's answer, with the cost of the whole run", async () => {
  const { ask } = serve([SUM, { content: "It is 4.", usage: USAGE }]);
  const response = await ask({});
  const { id, created, ...body } = await response.json();
  assertMatch(id, /^chatcmpl-/);
  assert(Number.isInteger(created));
  assertEquals(body, {
    object: "chat.completion",
    model: "a/b",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "It is 4.", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 },
    system_fingerprint: null,
    service_tier: null,
  });
  assertEquals(response.headers.get("x-agent-tool-calls"), "1");
});

Deno.test("a streamed completion is the same text in chunks, without tool events", async () => {
  const { ask } = serve([SUM, { content: "It is 4.", usage: USAGE }]);
  const response = await ask({ stream: true });
  assertMatch(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  const chunks = await readChunks(response);
  const deltas = chunks.flatMap(({ choices }) => choices).map(({ delta }) => delta);
  assertEquals(deltas[0], { role: "assistant", content: "" });
  const text = deltas.map(({ content }) => content ?? "").join("");
  assertEquals(text, "Let me see.\n\nIt is 4.");
  assert(!deltas.some((delta) => "tool_events" in delta || "tool_calls" in delta));
  assertEquals(chunks.filter(({ choices }) => choices[0]?.finish_reason).length, 1);
  assertEquals(chunks.at(-1).agent.model_calls, 2);
  assertEquals(new Set(chunks.map(({ id }) => id)).size, 1);
});

Deno.test("an answer without calls does not end with tool_calls, though its provider says so", async () => {
  for (const finishReason of ["tool_calls", "function_call"]) {
    const { ask } = serve([{ content: "Hello.", finishReason }]);
    const { choices: [choice] } = await (await ask({})).json();
    assertEquals([choice.message.content, choice.finish_reason], ["Hello.", "stop"]);
    const chunks = await readChunks(await ask({ stream: true }));
    assertEquals(chunks.at(-1).choices[0].finish_reason, "stop");
  }
});

Deno.test("users with different names are told apart", async () => {
  const messages = [
    { role: "system", name: "host", content: "Be kind." },
    { role: "user", name: "bob", content: "Tea." },
    { role: "user", name: "amy", content: "Coffee." },
  ];
  const { ask, provider } = serve([{ content: "Yes." }]);
  await ask({ messages });
  const [apart] = provider.requests.map(({ messages }) => messages);
  assertEquals(apart, [
    { role: "system", content: "host: Be kind." },
    { role: "user", content: "Tea.", extra: { name: "bob" } },
    { role: "user", content: "Coffee.", extra: { name: "amy" } },
  ]);
});

Deno.test("a conversation of system messages only is answered", async () => {
  const { ask, provider } = serve([{ content: "Knock, knock." }]);
  const messages = [{ role: "system", content: "Tell a joke." }];
  const response = await ask({ messages });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("x-history-repairs"), "opened=1");
  await response.body?.cancel();
  const sent = provider.requests[0]?.messages;
  assertEquals(sent?.map(({ role }) => role), ["system", "user"]);
  assertEquals(sent?.[0]?.content, "Tell a joke.");
});

Deno.test("log probabilities are streamed with the last chunk of the choice", async () => {
  const logprobs = { content: [{ token: "Hello", logprob: -0.1 }] };
  const chunks = await readChunks(await serve([{ logprobs }]).ask({ stream: true }));
  assertEquals(chunks.at(-1).choices[0].logprobs, logprobs);
});

Deno.test("the last chunk is the usage, if the client asks for it", async () => {
  const { ask } = serve([SUM, { usage: USAGE }]);
  const response = await ask({ stream: true, stream_options: { include_usage: true } });
  const last = (await readChunks(response)).at(-1);
  assertEquals(last.choices, []);
  assertEquals(last.usage, { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 });
});

Deno.test("tool events are sent if the client asks for them", async () => {
  const headers = { "x-agent-events": "tools" };
  const { ask } = serve([SUM, { content: "It is 4." }]);
  const chunks = await readChunks(await ask({ stream: true }, { headers }));
  const events = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_events ?? []);
  assertEquals(events.map(({ type, name, args, content }) => [type, name, args ?? content]), [
    ["tool_call", "calculator", { expression: "2+2" }],
    ["tool_result", "calculator", "4"],
  ]);
  const whole = serve([SUM, { content: "It is 4." }]);
  const body = await (await whole.ask({}, { headers })).json();
  assertEquals(body.choices[0].message.tool_events.length, 2);
});

Deno.test("the caller's settings and system messages are sent to the provider", async () => {
  const { provider, ask } = serve([{}], { environment: { AGENT_TEMPERATURE: "1" } });
  const passed = {
    stop: ["END"],
    seed: 7,
    response_format: { type: "json_object" },
    user: "u1",
    top_p: 0.5,
  };
  await ask({
    ...passed,
    temperature: 0,
    max_tokens: 9,
    messages: [
      { role: "system", content: "Be a pirate." },
      {
        role: "user",
        content: [{ type: "text", text: "Ahoy, " }, { type: "text", text: "mate" }],
      },
    ],
  });
  const [request] = provider.requests;
  assertEquals(request?.messages, [
    { role: "system", content: "Be a pirate." },
    { role: "user", content: "Ahoy, mate" },
  ]);
  assertEquals([request?.temperature, request?.maxTokens, request?.extra], [0, 9, passed]);
  assertEquals(request?.tools?.length, 2);
});

Deno.test("without a system message the service's own prompt is used", async () => {
  const { provider, ask } = serve([{}], { environment: { AGENT_SYSTEM_PROMPT: "Be kind." } });
  await ask({});
  assertEquals(provider.requests[0]?.messages[0], { role: "system", content: "Be kind." });
});

Deno.test("a conversation with tool calls keeps them, with their arguments", async () => {
  const { provider, ask } = serve([{}]);
  const called = { name: "lookup", arguments: '{"id":5}' };
  await ask({
    messages: [
      ...MESSAGES,
      { role: "assistant", content: null, tool_calls: [{ id: "x", function: called }] },
      { role: "tool", tool_call_id: "x", content: "found" },
    ],
  });
  const [, , caller, result] = provider.requests[0]!.messages;
  assertEquals(caller, {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "x", ...called }],
  });
  assertEquals(result, { role: "tool", toolCallId: "x", content: "found" });
});

Deno.test("with x-agent-tools: off the model has the caller's tools alone, and no prompt of the agent", async () => {
  const headers = { "x-agent-tools": "off" };
  const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
  const step = {
    content: null,
    toolCalls: [{ id: "c9", name: "f", arguments: "{}" }],
    usage: USAGE,
  };
  const { provider, ask } = serve([step]);
  const messages = [...MESSAGES, ...MESSAGES];
  const response = await ask({ tools, tool_choice: "auto", messages }, { headers });
  const [choice] = (await response.json()).choices;
  const [{ id: _, ...call }, ...others] = choice.message.tool_calls;
  assertEquals(call, { type: "function", function: { name: "f", arguments: "{}" } });
  assertEquals(others, []);
  assertEquals(choice.finish_reason, "tool_calls");
  assertEquals(response.headers.get("x-agent-model"), "a/b");
  const [request] = provider.requests;
  assertEquals(request?.messages, [
    { role: "user", content: "Hi" },
    { role: "user", content: "Hi" },
  ]);
  assertEquals(request?.tools, tools.map(({ function: called }) => called));
  assertEquals(request?.extra?.tool_choice, "auto");

  const streamed = await readChunks(await ask({ tools, stream: true }, { headers }));
  const calls = streamed.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  const [{ id: __, ...begun }, ...rest] = calls;
  assertEquals(begun, { index: 0, type: "function", function: { name: "f", arguments: "{" } });
  assertEquals(rest, [{ index: 0, function: { arguments: "}" } }]);
});

Deno.test("a model id that ends with :plain asks the model alone, as the header does", async () => {
  const { provider, ask } = serve([{ content: "Plain." }]);
  const messages = [...MESSAGES, ...MESSAGES];
  const response = await ask({ model: "acme/small:free:plain", messages });
  assertEquals((await response.json()).choices[0].message.content, "Plain.");
  assertEquals(response.headers.get("x-agent-model"), "acme/small:free");
  assertEquals(provider.requests[0]?.model, "acme/small:free");
  assertEquals(provider.requests[0]?.messages.length, 2);
  assertEquals(provider.requests[0]?.tools, undefined);
});

Deno.test("every error below /v1/ has OpenAI's format", async () => {
  const busy = new ProviderError(429, "rate_limited", "busy", { kind: "status", status: 429 }, {
    headers: { "retry-after": "7" },
  });
  const cases: [Record<string, unknown>, Step, number, string, string | null][] = [
    [{ model: "gpt-4o" }, {}, 400, "invalid_model_id", "model"],
    [{ model: " " }, {}, 400, "missing_model_id", "model"],
    [{ model: undefined }, {}, 400, "missing_model_id", "model"],
    [{ messages: [] }, {}, 400, "invalid_request", "messages"],
    [{ messages: [{ role: "user", content: " " }] }, {}, 400, "invalid_request", "messages"],
    [{ n: 2 }, {}, 400, "unsupported_parameter", "n"],
    [{ max_tokens: 0 }, {}, 400, "invalid_request", "max_tokens"],
    [{ max_tokens: -2 }, {}, 400, "invalid_request", "max_tokens"],
    [{ model: ":plain" }, {}, 400, "missing_model_id", "model"],
    [{ model: "gpt-4o:plain" }, {}, 400, "invalid_model_id", "model"],
    [
      { messages: [{ role: "user", content: [{ text: "no type" }] }] },
      {},
      400,
      "invalid_request",
      "messages.0.content.0.type",
    ],
    [{}, busy, 429, "rate_limited", null],
    [{ stream: true }, busy, 429, "rate_limited", null],
    [{}, new TypeError("secret"), 500, "internal", null],
  ];
  for (const [body, step, status, code, param] of cases) {
    const { ask } = serve([step]);
    const response = await ask(body);
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.param], [status, code, param]);
    assertEquals(Object.keys(error), ["message", "type", "code", "param"]);
    assert(!error.message.includes("secret"));
    assertEquals(response.headers.get("retry-after"), status === 429 ? "7" : null);
  }
  const { service } = serve([{}], { environment: { API_KEYS: "k" } });
  const refused = await service(new Request("http://127.0.0.1:8000/v1/models"));
  assertEquals([refused.status, (await refused.json()).error.type], [401, "authentication_error"]);
});

Deno.test("a stream that fails in the middle ends with an error chunk", async () => {
  const error = new ProviderError(502, "provider_error", "gone", { kind: "unreachable" });
  const { ask } = serve([SUM, error]);
  const chunks = await readChunks(await ask({ stream: true }));
  assertEquals(chunks.at(-1).error.code, "provider_error");
});

Deno.test("a request without a model says so, on both routes", async () => {
  const { post } = openAIRoutes(createScriptedProvider({}));
  for (const model of [undefined, null, " "]) {
    for (const path of ["chat/completions", "responses"] as const) {
      const response = await post(path, { model, messages: MESSAGES, input: "Hi" });
      const { error } = await response.json();
      assertEquals([response.status, error.code, error.param], [400, "missing_model_id", "model"]);
    }
  }
});

Deno.test("if the provider sends no usage, none is made up", async () => {
  const { ask } = serve([{ content: "Hi." }]);
  const chunks = await readChunks(
    await ask({ stream: true, stream_options: { include_usage: true } }),
  );
  assert(chunks.every(({ usage }) => usage === undefined));
  assert(!("usage" in await (await ask({})).json()));
  const { post } = openAIRoutes(createScriptedProvider({ content: "Hi." }));
  assertEquals((await (await post("responses", { input: "Hi" })).json()).usage, null);
});

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const LARGE: ListedModel = { id: "acme/large", name: "Large" };
const FAILURE = new ProviderError(502, "provider_error", "no", { kind: "unreachable" });

/** One fine-tuned model and one of the hub, unless a test has others. */
function modelsOf({ listStudio, hub = [LARGE] }: {
  listStudio?: Models["listStudio"];
  hub?: ListedModel[];
} = {}): Models {
  return {
    providerFor: () => createScriptedProvider({}),
    listStudio: listStudio ?? (() => Promise.resolve({ "support-v3": UUID })),
    listHub: () => Promise.resolve({ models: hub, hidden: [] }),
  };
}

/** Asks for `/v1/models`, and what is below it. */
function serveModels(models: Models) {
  const { service } = agentService(createScriptedProvider({}), { models });
  return (path = "") => service(new Request(`http://127.0.0.1:8000/v1/models${path}`));
}

Deno.test("the hub's models are listed even if the studio's list fails", async () => {
  const listStudio = () => Promise.reject(FAILURE);
  const some = await (await serveModels(modelsOf({ listStudio }))()).json();
  assertEquals(some.data.map(({ id }: { id: string }) => id), ["acme/large"]);
  const none = await serveModels(modelsOf({ listStudio, hub: [] }))();
  assertEquals([none.status, (await none.json()).error.code], [502, "provider_error"]);
});

Deno.test("the hub's models do not wait for a studio that does not answer", async () => {
  const { signal } = new AbortController();
  const models = modelsOf({ listStudio: () => never() });
  const { data } = await listModels(models, { signal, studioWaitMs: 1 });
  assertEquals(data.map(({ id }) => id), ["acme/large"]);
});

Deno.test("a hub that is down is named beside the models that can be asked", async () => {
  const config = parseConfig(AgentConfig, {
    HUB_BASE_URL: "http://127.0.0.1:9/v1",
    MODEL_RETRIES: "0",
    STUDIO_MODELS: JSON.stringify({ "support-v3": UUID }),
  });
  const list = await (await serveModels(createModels(config, silentLogger))()).json();
  assertEquals(list.data.map(({ id }: { id: string }) => id), [UUID]);
  assertStringIncludes(list.diagnostics.hub, "cannot");
});

Deno.test("a fine-tuned model is not called unknown if the studio's list fails", async () => {
  const get = serveModels(modelsOf({ listStudio: () => Promise.reject(FAILURE) }));
  const ask = async (path: string) => {
    const answer = await get(path);
    const { error } = await answer.json();
    return [answer.status, error?.code];
  };
  assertEquals(await ask(`/${UUID}`), [502, "provider_error"]);
  assertEquals(await ask("/acme/none"), [404, "model_not_found"]);
  assertEquals(await ask("/acme/large"), [200, undefined]);
});

Deno.test("GET /v1/models lists the fine-tuned models by UUID, then the hub's", async () => {
  assertEquals(await (await serveModels(modelsOf())()).json(), {
    object: "list",
    data: [
      { id: UUID, object: "model", created: 0, owned_by: "studio", name: "support-v3" },
      { id: "acme/large", object: "model", created: 0, owned_by: "acme", name: "Large" },
    ],
  });
});

Deno.test("a model whose id names no provider is owned by the hub, not by itself", async () => {
  const hub = ["llama3.2", "studio"].map((id) => ({ id, name: id }));
  const { data } = await (await serveModels(modelsOf({ hub }))()).json();
  const owners = data.map((model: Record<string, string>) => [model.id, model.owned_by]);
  assertEquals(owners, [[UUID, "studio"], ["llama3.2", "hub"], ["studio", "hub"]]);
});

Deno.test("GET /v1/models/{id} finds a model whether its slash is encoded or not", async () => {
  const get = serveModels(modelsOf());
  const large = { id: "acme/large", object: "model", created: 0, owned_by: "acme", name: "Large" };
  for (const path of ["/acme/large", "/acme%2Flarge"]) {
    assertEquals(await (await get(path)).json(), large);
  }
  for (const id of [UUID, UUID.toUpperCase()]) {
    assertEquals((await (await get(`/${id}`)).json()).id, UUID);
  }
  for (const path of ["/acme/small", "/ACME/LARGE", "/%"]) {
    const missing = await get(path);
    const { error } = await missing.json();
    assertEquals([missing.status, error.code, error.param], [404, "model_not_found", "model"]);
  }
});

/** Fields of OpenAI, of other providers, and unknown ones. */
const FIELDS = {
  max_completion_tokens: 50,
  verbosity: "low",
  prediction: { type: "content", content: "x" },
  metadata: { team: "a" },
  store: true,
  prompt_cache_key: "k",
  top_k: 40,
  response_format: { type: "json_object" },
  logprobs: true,
  not_yet_known: [1],
};

/** The settings with which the model is asked. */
async function settingsFor(fields: Record<string, unknown>, environment = {}) {
  const { provider, ask } = serve([{}], { environment });
  await (await ask({ stream: true, stream_options: { include_usage: true }, ...fields })).text();
  const { model: _, messages: __, tools: ___, mayOmitTools: ____, ...settings } = provider
    .requests[0]!;
  return settings;
}

Deno.test("every field that the service does not use goes to the provider", async () => {
  const settings = await settingsFor({ ...FIELDS, user: null, n: 1, temperature: 0 });
  assertEquals<unknown>(settings, { temperature: 0, extra: FIELDS });
  assertEquals<unknown>(await settingsFor({}), {});
});

Deno.test("a limit of -1 tokens is no limit, also if one is configured", async () => {
  const limit = async (fields: Record<string, unknown>) =>
    (await settingsFor(fields, { AGENT_MAX_TOKENS: "7" })).maxTokens;
  assertEquals(await limit({}), 7);
  assertEquals(await limit({ max_tokens: -1 }), undefined);
  assertEquals(await limit({ max_completion_tokens: -1 }), undefined);
  assertEquals(await limit({ max_tokens: 9 }), 9);
});

const JSON_TEXT = '{"sum": 4}';
const FORMAT = { name: "sum", schema: { type: "object" } };

/** The text of a streamed answer to a caller who wants JSON, on each route. */
const ROUTES = {
  async "chat/completions"(steps: Step[], body: Record<string, unknown> = {}) {
    const { post } = openAIRoutes(createScriptedProvider(...steps));
    const chunks = await readChunks(
      await post("chat/completions", {
        messages: [{ role: "user", content: "2+2?" }],
        response_format: { type: "json_schema", json_schema: FORMAT },
        stream: true,
        ...body,
      }),
    );
    return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  },
  async responses(steps: Step[], body: Record<string, unknown> = {}) {
    const { post } = openAIRoutes(createScriptedProvider(...steps));
    const text = { format: { type: "json_schema", ...FORMAT } };
    const response = await post("responses", { input: "2+2?", text, stream: true, ...body });
    let said = "";
    for await (const { event, data } of readEvents(response)) {
      if (event === "response.output_text.delta") said += data.delta;
    }
    return said;
  },
};

for (const [route, textOf] of Object.entries(ROUTES)) {
  Deno.test(`${route}: a stream of JSON has no text of the turns before the answer`, async () => {
    assertEquals(await textOf([SUM, { content: JSON_TEXT }]), JSON_TEXT);
  });

  Deno.test(`${route}: an answer that is not JSON after all is streamed, too`, async () => {
    for (const content of ["I cannot say.", "```json\n{}\n```", " \n "]) {
      assertEquals(await textOf([SUM, { content: `Well: ${content}` }]), `Well: ${content}`);
    }
  });

  Deno.test(`${route}: text beside a call of the caller's tool is streamed`, async () => {
    const call = { id: "c2", name: "look_up", arguments: "{}" };
    const tool = { name: "look_up", parameters: { type: "object" } };
    const tools = route === "responses"
      ? [{ type: "function", ...tool }]
      : [{ type: "function", function: tool }];
    const steps = [SUM, { content: "I look it up.", toolCalls: [call] }];
    assertEquals(await textOf(steps, { tools }), "I look it up.");
  });
}

Deno.test("without a format of JSON the text of every turn is streamed", async () => {
  const text = await ROUTES["chat/completions"]([SUM, { content: JSON_TEXT }], {
    response_format: { type: "text" },
  });
  assertEquals(text, `Let me see.\n\n${JSON_TEXT}`);
});

const Text = fc.oneof(
  fc.constantFrom("", " ", "Hi"),
  fc.string({ unit: "grapheme" }),
);
const Content = fc.oneof(
  Text,
  fc.array(Text.map((text) => ({ type: "text", text })), { maxLength: 3 }),
);
const Id = fc.constantFrom("a", "b", "c");
const Call = fc.record({
  id: Id,
  type: fc.constant("function"),
  function: fc.record({ name: Text, arguments: fc.oneof(fc.constant('{"x":1}'), Text) }),
});
const Message = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "developer", "user"), content: Content }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.option(Content),
    tool_calls: fc.option(fc.array(Call, { maxLength: 3 })),
  }),
  fc.record({ role: fc.constant("tool"), tool_call_id: Id, content: Content }),
  fc.record({ role: fc.constant("function"), name: Id, content: Content }),
);

Deno.test("any OpenAI conversation becomes one that every strict provider accepts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Message, { maxLength: 40 }), async (messages) => {
      let strict: ChatMessage[] | undefined;
      const { ask } = serve([(request) => {
        strict = request.asStrict!(request.messages);
        return Promise.resolve({});
      }]);
      await ask({ messages: [...messages, { role: "user", content: "And?" }] });
      assertEquals(findViolations(strict!), []);
    }),
    { numRuns: 100 },
  );
});

Deno.test("a blank description of a caller's tool is left out, because Bedrock refuses it", async () => {
  const functions = [
    { name: "a" },
    { name: "b", description: " ", parameters: null },
    { name: "c", description: null },
    { name: "d", description: "D", strict: true },
  ];
  const { provider, ask } = serve([{}]);
  await ask({ tools: functions.map((definition) => ({ type: "function", function: definition })) });
  const parameters = { type: "object", properties: {} };
  assertEquals<unknown>(provider.requests[0]!.tools!.slice(-4), [
    { name: "a", parameters },
    { name: "b", parameters },
    { name: "c", parameters },
    { name: "d", description: "D", strict: true, parameters },
  ]);
});
