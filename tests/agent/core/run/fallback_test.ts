import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ADAPTATIONS } from "../../../../shared/providers/adaptations.ts";
import { withAdaptations } from "../../../../shared/providers/adapted_requests.ts";
import {
  type ChatMessage,
  ProviderError,
  type ProviderFailure,
} from "../../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { readEvents } from "../../../fakes/events.ts";
import { hubOf, providerOf } from "../../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  completionChunks,
  errorStatus,
  type ProviderDouble,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";
import { createScriptedProvider, type ScriptedProvider } from "../../../fakes/scripted_provider.ts";

const BODY = { messages: [{ type: "human", content: "Hi" }] };

/** A service whose model is `a/b`, and what it was asked. */
function serve(provider: ScriptedProvider, fallback = "a/second") {
  const { service } = agentService(provider, { environment: { HUB_FALLBACK: fallback } });
  const ask = (accept = "application/json") =>
    service(agentRequestOf(BODY, { headers: { accept } }));
  return { ask, asked: () => provider.requests.map(({ model }) => model) };
}

function failing(failure: ProviderFailure): ProviderError {
  return new ProviderError(502, "provider_error", "no", failure);
}

const BUSY = failing({ kind: "status", status: 429 });

Deno.test("the next model is asked after 429, 5xx and a failed connection only", async () => {
  const cases: [ProviderFailure, number][] = [
    [{ kind: "status", status: 429 }, 2],
    [{ kind: "status", status: 500 }, 2],
    [{ kind: "status", status: 503 }, 2],
    [{ kind: "unreachable" }, 2],
    [{ kind: "interrupted" }, 2],
    [{ kind: "interrupted", why: "reset" }, 2],
    [{ kind: "status", status: 400 }, 1],
    [{ kind: "status", status: 401 }, 1],
    [{ kind: "status", status: 404 }, 1],
    [{ kind: "timeout" }, 1],
    [{ kind: "unreadable" }, 1],
  ];
  for (const [failure, calls] of cases) {
    const { ask, asked } = serve(
      createScriptedProvider(failing(failure), { content: "second" }),
    );
    await (await ask()).text();
    assertEquals(asked().length, calls, JSON.stringify(failure));
  }
});

Deno.test("models are tried in their order, and the error of the last one is answered", async () => {
  const { ask, asked } = serve(createScriptedProvider(BUSY), "a/2, a/3");
  const response = await ask();
  assertEquals([response.status, (await response.json()).code], [502, "provider_error"]);
  assertEquals(asked(), ["a/b", "a/2", "a/3"]);
});

Deno.test("the model that answered is asked first for the rest of the run", async () => {
  const sum = { id: "c1", name: "calculator", arguments: '{"expression":"1+1"}' };
  const { ask, asked } = serve(createScriptedProvider(BUSY, { toolCalls: [sum] }, {}));
  const response = await ask();
  await response.text();
  assertEquals(asked(), ["a/b", "a/second", "a/second"]);
  assertEquals(response.headers.get("x-agent-model"), "a/second");
});

Deno.test("a stream falls back before its first delta, never after it", async () => {
  const early = serve(createScriptedProvider(BUSY, { content: "Hi." }));
  assertStringIncludes(await (await early.ask("text/event-stream")).text(), "event: done");

  const cut = createScriptedProvider({});
  cut.stream = async function* ({ model }) {
    yield { type: "text", text: model };
    throw BUSY;
  };
  const late = await Array.fromAsync(readEvents(await serve(cut).ask("text/event-stream")));
  assertEquals(late.map(({ event }) => event), ["token", "error"]);
  assertEquals(late[0]!.data.text, "a/b");
});

Deno.test("HUB_FALLBACK answers for a hub model, and x-agent-model names the model that answered", async () => {
  const environment = { HUB_FALLBACK: "b/second, b/third" };
  for (const accept of ["application/json", "text/event-stream"]) {
    const provider = createScriptedProvider(BUSY, { content: "from the second" });
    const { service } = agentService(provider, { environment });
    const response = await service(agentRequestOf(BODY, { headers: { accept } }));
    assertEquals([response.status, response.headers.get("x-agent-model")], [200, "b/second"]);
    if (accept === "text/event-stream") {
      const events = await Array.fromAsync(readEvents(response));
      assertEquals(events.at(-1)?.data.model, "b/second");
    } else assertEquals((await response.json()).content, "from the second");
  }
});

Deno.test("a fine-tuned model has no fallback", async () => {
  const provider = createScriptedProvider(BUSY);
  const { service } = agentService(provider, { environment: { HUB_FALLBACK: "b/second" } });
  const headers = { "x-model-id": crypto.randomUUID() };
  assertEquals((await service(agentRequestOf(BODY, { headers }))).status, 502);
  assertEquals(provider.requests.length, 1);
});

const MISTRAL = "mistral/large";

/** Refuses other ids of tool calls than Mistral's. */
const strict: Answer = (request) => {
  const { messages } = request.body as { messages: { tool_calls?: { id: string }[] }[] };
  const ids = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  const refusal = errorStatus(400, { message: `Tool call id was ${wrong} but must be …` });
  return (wrong ? refusal : completion())(request);
};

Deno.test("a fallback of another provider gets ids of tool calls that it takes", async () => {
  const sum = (id: string) => ({ id, name: "calculator", arguments: '{"expression":"1+1"}' });
  await using double = await startProviderDouble([
    completion({ toolCalls: [sum("call_abcdefghijklmnop"), sum("call00001")] }),
    errorStatus(503),
    strict,
  ]);
  const { service } = agentService(providerOf(double), {
    environment: { HUB_FALLBACK: MISTRAL },
  });
  const response = await service(agentRequestOf(BODY));
  assertEquals([response.status, response.headers.get("x-agent-model")], [200, MISTRAL]);
  const { messages } = double.requests.at(-1)!.body;
  const made = messages.at(-3).tool_calls.map(({ id }: { id: string }) => id);
  const answered = messages.slice(-2).map(({ tool_call_id }: Record<string, string>) =>
    tool_call_id
  );
  assertEquals([made, answered], [["call00002", "call00001"], ["call00002", "call00001"]]);
});

Deno.test("a fallback of the same provider gets the ids of tool calls as they are", async () => {
  const id = "call_abcdefghijklmnop";
  const sum = { id, name: "calculator", arguments: '{"expression":"1+1"}' };
  const provider = createScriptedProvider({ toolCalls: [sum] }, BUSY, {});
  const { ask, asked } = serve(provider);
  await (await ask()).text();
  assertEquals(asked(), ["a/b", "a/b", "a/second"]);
  const { messages } = provider.requests.at(-1)!;
  assertEquals(messages.at(-1), { role: "tool", toolCallId: id, content: "2" });
});

Deno.test("a turn of another provider in a history gets such ids, one of the same keeps its own", async () => {
  const id = "function-call-123";
  const extra_content = { google: { thought_signature: "x" } };
  const made = { id, type: "function", function: { name: "look", arguments: "{}" }, extra_content };
  const messages = [
    { type: "human", content: "Hi" },
    {
      type: "ai",
      content: "",
      additional_kwargs: { tool_calls: [made], from_model: "google/gemini" },
    },
    { type: "tool", tool_call_id: id, content: "seen" },
  ];
  await using double = await startProviderDouble([strict, completion()]);
  const { service } = agentService(providerOf(double));
  for (const model of [MISTRAL, "google/gemini-flash"]) {
    const headers = { "x-model-id": model };
    const response = await service(agentRequestOf({ messages }, { headers }));
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  const answered = double.requests.map(({ body }) => body.messages.at(-1).tool_call_id);
  assertEquals(answered, ["call00001", id]);
});

for (const accept of ["application/json", "text/event-stream"]) {
  Deno.test(`a fallback is asked at once if the model wants a long wait, ${accept}`, async () => {
    const busy = errorStatus(429, { headers: { "retry-after": "20" } });
    const soon = errorStatus(429, { headers: { "retry-after-ms": "1" } });
    const last = accept === "application/json" ? completion() : sse(completionChunks());
    await using double = await startProviderDouble([busy, soon, last]);
    const { service } = agentService(providerOf(double, { retries: 2, timeoutMs: 120_000 }), {
      environment: { HUB_FALLBACK: "c/d" },
    });
    const response = await service(agentRequestOf(BODY, { headers: { accept } }));
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("x-agent-model")], [200, "c/d"]);
    assertEquals(double.requests.map(({ body }) => body.model), ["a/b", "c/d", "c/d"]);
  });
}

Deno.test("the error about empty answers names the fallback that gave them", async () => {
  const empty = completion({ content: null });
  await using double = await startProviderDouble([errorStatus(503), empty]);
  const { service } = agentService(providerOf(double), { environment: { HUB_FALLBACK: "c/d" } });
  const { code, detail } = await (await service(agentRequestOf(BODY))).json();
  assertEquals(code, "empty_reply");
  assertEquals(detail, 'cannot get a reply for model "c/d": it sent an empty answer twice');
});

const image = (name: string) => ({
  type: "image_url",
  image_url: { url: `data:image/png,${name}` },
});
const result = (toolCallId: string, names: string[]): ChatMessage => ({
  role: "tool",
  toolCallId,
  content: "(image: image/png)",
  ...(names.length > 0 && { images: names.map(image) }),
});
const MESSAGES: ChatMessage[] = [
  { role: "user", content: "Draw." },
  {
    role: "assistant",
    content: "",
    toolCalls: ["a", "b", "c"].map((id) => ({ id, name: "draw", arguments: "{}" })),
  },
  result("a", ["one"]),
  result("b", []),
  result("c", ["two", "three"]),
];
const WITH_IMAGE = { model: "acme/m", messages: MESSAGES };

const WAYS = {
  whole: (provider: ReturnType<typeof providerOf>) => provider.complete(WITH_IMAGE),
  streamed: (provider: ReturnType<typeof providerOf>) =>
    Array.fromAsync(provider.stream(WITH_IMAGE)),
};

/** The roles of a request, and the number of its images. */
function shapeOf({ requests }: ProviderDouble): string[] {
  return requests.map(({ body }) => {
    const images = JSON.stringify(body.messages).match(/"image_url":\{/g) ?? [];
    return `${body.messages.at(-1).role} ${images.length}`;
  });
}

for (const [way, ask] of Object.entries(WAYS)) {
  const answer = way === "whole" ? completion() : sse(completionChunks());

  Deno.test(`images of tools follow the results in a user's message, ${way}`, async () => {
    await using double = await startProviderDouble(answer);
    await ask(withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]));
    const { messages } = double.requests[0]!.body;
    const roles = messages.map(({ role }: { role: string }) => role);
    assertEquals(roles, ["user", "assistant", "tool", "tool", "tool", "user"]);
    assertEquals(messages.at(-1).content.slice(1), ["one", "two", "three"].map(image));
    assertEquals(messages[2], { role: "tool", tool_call_id: "a", content: "(image: image/png)" });
  });

  Deno.test(`a model that refuses images is asked without them, and gets none later, ${way}`, async () => {
    for (const status of [400, 404, 422]) {
      await using double = await startProviderDouble([errorStatus(status), answer]);
      const provider = withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]);
      await ask(provider);
      await ask(provider);
      assertEquals(shapeOf(double), ["user 3", "tool 0", "tool 0"]);
    }
  });

  Deno.test(`a refusal that has another reason is reported, ${way}`, async () => {
    await using double = await startProviderDouble(errorStatus(400));
    const provider = withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]);
    await assertRejects(() => ask(provider), ProviderError, "refused by the provider (400)");
    assertEquals(shapeOf(double), ["user 3", "tool 0"]);
  });

  Deno.test(`a model that refuses the request without images too gets them later, ${way}`, async () => {
    await using double = await startProviderDouble([errorStatus(400), errorStatus(400), answer]);
    const provider = withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]);
    await assertRejects(() => ask(provider), ProviderError);
    await ask(provider);
    assertEquals(shapeOf(double), ["user 3", "tool 0", "user 3"]);
  });
}

Deno.test("only the latest images are sent, up to the limits of a request", async () => {
  await using double = await startProviderDouble(completion());
  const names = Array.from({ length: 20 }, (_, index) => `${index}`);
  const messages = [...MESSAGES.slice(0, 2), result("a", names)];
  await providerOf(double).complete({ model: "acme/m", messages });
  const sent = double.requests[0]!.body.messages.at(-1).content.slice(1);
  assertEquals(sent, names.slice(4).map(image));
});

const URL = "data:image/png;base64,AAAA";
const IMAGE = { type: "image_url", image_url: { url: URL } };
const INPUT = [
  { role: "user", content: "Look." },
  { type: "function_call", call_id: "c1", name: "shoot", arguments: "{}" },
  {
    type: "function_call_output",
    call_id: "c1",
    output: [{ type: "input_text", text: "A shot." }, { type: "input_image", image_url: URL }],
  },
];
const tools = [{ type: "function", name: "shoot", parameters: { type: "object" } }];

type Message = { role: string; content: unknown };
const lastOf = ({ body }: ReceivedRequest): Message[] => body.messages.slice(-2);

/** Refuses images that are not in a user's message, as OpenAI does. */
const refuseResultImages: Answer = (request) => {
  const isRefused = request.body.messages.some(({ role, content }: Message) =>
    role !== "user" && JSON.stringify(content)?.includes("image_url")
  );
  const message = "Image URLs are only allowed for messages with role 'user'.";
  return (isRefused ? errorStatus(400, { message }) : completion())(request);
};

Deno.test("images in the result of a caller's tool follow it if the model refuses them there", async () => {
  await using double = await startProviderDouble(refuseResultImages);
  const { post } = openAIRoutes(hubOf(double));
  for (let asked = 0; asked < 2; asked++) {
    const response = await post("responses", { input: INPUT, tools });
    assertEquals([response.status, (await response.json()).status], [200, "completed"]);
  }
  const [first, ...others] = double.requests.map(lastOf);
  assertEquals(first![1]!.content, [{ type: "text", text: "A shot." }, IMAGE]);
  assertEquals(others.length, 2);
  for (const [result, shown] of others) {
    assertEquals([result!.role, result!.content], ["tool", "A shot.\n\n(an image)"]);
    assertEquals([shown!.role, (shown!.content as unknown[]).at(-1)], ["user", IMAGE]);
  }
});

Deno.test("a model that takes images in results gets them there", async () => {
  await using double = await startProviderDouble(completion());
  const { post } = openAIRoutes(hubOf(double));
  await (await post("responses", { input: INPUT, tools })).text();
  assertEquals(double.requests.map(lastOf).map(([, result]) => result!.role), ["tool"]);
});

Deno.test("a caller's images are never left out: their refusal is passed on", async () => {
  let isBroken = true;
  await using double = await startProviderDouble((request) => {
    const hasImage = JSON.stringify(request.body.messages).includes("image_url");
    const isRefused = isBroken && hasImage;
    return (isRefused ? errorStatus(400, { message: "no image" }) : completion())(request);
  });
  const { post } = openAIRoutes(hubOf(double));
  const refused = await post("responses", { input: INPUT, tools });
  assertEquals([refused.status, double.requests.length], [400, 2]);
  await refused.text();
  isBroken = false;
  await (await post("responses", { input: INPUT, tools })).text();
  assertEquals(JSON.stringify(double.requests.at(-1)!.body.messages).includes("image_url"), true);
});

/** Of Ollama, OpenAI, Groq, Mistral, DeepSeek, DeepInfra, Bedrock, NVIDIA, vLLM, llama.cpp. */
const REFUSALS: [status: number, message: string][] = [
  [400, "registry.ollama.ai/library/gemma3:latest does not support tools"],
  [400, "tools is not supported in this model. For a list of supported models, refer to the docs."],
  [400, "`tool calling` is not supported with this model"],
  [400, "Function calling is not enabled for this model"],
  [400, "deepseek-reasoner does not support Function Calling"],
  [405, "Tool calling is not supported for model: acme/small"],
  [400, "This model doesn't support tool use."],
  [400, "Tool use has not been enabled, because it is unsupported by acme/small."],
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [500, "tools param requires --jinja flag"],
];

/** OpenRouter's error, which may be temporary. */
const PASSING = 'No endpoints found that support tool use. Try disabling "calculator".';

/** A provider that refuses requests with tools. */
function refuseTools(status: number, message: string): Answer {
  return (request) => {
    const { tools, stream } = request.body;
    if (tools) return errorStatus(status, { message })(request);
    const fields = { content: "Oslo" };
    return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
  };
}

const hasTools = ({ body }: ReceivedRequest) => body.tools !== undefined;
const CHAT_BODY = { messages: [{ role: "user", content: "Which city?" }], tool_choice: "auto" };

for (const stream of [false, true]) {
  Deno.test(`stream ${stream}: a model that refuses tools is asked without the agent's`, async () => {
    for (const [status, message] of REFUSALS) {
      await using double = await startProviderDouble(refuseTools(status, message));
      const { post } = openAIRoutes(hubOf(double));
      for (let asked = 0; asked < 2; asked++) {
        const response = await post("chat/completions", { ...CHAT_BODY, stream });
        assertStringIncludes(await response.text(), "Oslo", message);
      }
      const [first, ...others] = double.requests.slice(-3).map(hasTools);
      assertEquals([first, others], [true, [false, false]], message);
      assertEquals(double.requests.at(-1)!.body.tool_choice, undefined);
    }
  });
}

Deno.test("a model that finds no provider with tools for now is offered them again", async () => {
  await using double = await startProviderDouble(refuseTools(404, PASSING));
  const { post } = openAIRoutes(hubOf(double));
  for (let asked = 0; asked < 2; asked++) {
    assertStringIncludes(await (await post("chat/completions", CHAT_BODY)).text(), "Oslo");
  }
  assertEquals(double.requests.map(hasTools), [true, false, true, false]);
});

Deno.test("the caller's own tools are not left out: the refusal is passed on", async () => {
  const [status, message] = REFUSALS[0]!;
  await using double = await startProviderDouble(refuseTools(status, message));
  const { post } = openAIRoutes(hubOf(double));
  const tools = [{ type: "function", function: { name: "look_up" } }];
  const response = await post("chat/completions", { ...CHAT_BODY, tools });
  assertEquals([response.status, double.requests.length], [400, 1]);
  assertStringIncludes(await response.text(), message);
});

Deno.test("a refusal of something else about tools is passed on", async () => {
  for (
    const message of [
      "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
      "tool_choice is not supported",
      "Parallel tool calls are not supported by this model.",
      "Error: strict tools are not supported",
      "Images in tool results are not supported.",
      "This model doesn't support tool use in streaming mode.",
      "Invalid schema for function 'look_up': unknown type",
    ]
  ) {
    await using double = await startProviderDouble(refuseTools(400, message));
    const { post } = openAIRoutes(hubOf(double));
    const response = await post("chat/completions", CHAT_BODY);
    assertEquals([response.status, double.requests.length], [400, 1], message);
    await response.text();
  }
});
