import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { ADAPTATIONS } from "../../../../shared/providers/adaptations.ts";
import type { Adaptation } from "../../../../shared/providers/adapted_requests.ts";
import { createOpenAIProvider, loadOpenAI } from "../../../../shared/providers/openai_client.ts";
import {
  type ChatMessage,
  type ChatRequest,
  ProviderError,
} from "../../../../shared/providers/provider.ts";
import { failure, hubOf, providerOf, REQUEST, WAYS } from "../../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  errorStatus,
  json,
  raw,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";

Deno.test("a conversation is sent in OpenAI's shape", async () => {
  await using double = await startProviderDouble(completion());
  await providerOf(double).complete({
    model: "acme/deep/model",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "2+2?" },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "abcdefghi", name: "calculator", arguments: '{"expression":"2+2"}' }],
      },
      { role: "tool", content: "4", toolCallId: "abcdefghi" },
      { role: "assistant", content: "It is 4.", toolCalls: [] },
      { role: "user", content: "Thanks" },
    ],
    tools: [{ name: "calculator", description: "Sums", parameters: { type: "object" } }],
    temperature: 0,
    maxTokens: 50,
    seed: 7,
  });
  const [request] = double.requests;
  assertEquals(`${request?.method} ${request?.path}`, "POST /v1/chat/completions");
  assertEquals(request?.body, {
    model: "acme/deep/model",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "2+2?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{
          id: "abcdefghi",
          type: "function",
          function: { name: "calculator", arguments: '{"expression":"2+2"}' },
        }],
      },
      { role: "tool", tool_call_id: "abcdefghi", content: "4" },
      { role: "assistant", content: "It is 4." },
      { role: "user", content: "Thanks" },
    ],
    tools: [{
      type: "function",
      function: { name: "calculator", description: "Sums", parameters: { type: "object" } },
    }],
    temperature: 0,
    max_tokens: 50,
    seed: 7,
  });
});

Deno.test("what a request leaves out is left to the provider", async () => {
  await using double = await startProviderDouble(completion());
  await providerOf(double).complete({ ...REQUEST, tools: [] });
  assertEquals(Object.keys(double.requests[0]?.body), ["model", "messages"]);
});

Deno.test("a stream asks for its usage", async () => {
  await using double = await startProviderDouble(sse(completionChunks()));
  await WAYS.stream(providerOf(double));
  const { stream, stream_options } = double.requests[0]?.body;
  assertEquals({ stream, stream_options }, {
    stream: true,
    stream_options: { include_usage: true },
  });
});

Deno.test("the query of a base URL stays on every request", async () => {
  await using double = await startProviderDouble([completion(), json({ data: [] })]);
  const provider = providerOf({ baseUrl: `${double.baseUrl}?api-version=1&tag=a%20b` });
  await provider.complete(REQUEST);
  await provider.listModels();
  const urls = double.requests.map(({ path, search }) => path + search);
  assertEquals(urls, [
    "/v1/chat/completions?api-version=1&tag=a%20b",
    "/v1/models?api-version=1&tag=a%20b",
  ]);
});

Deno.test("the key goes out as a bearer token", async () => {
  await using double = await startProviderDouble(completion());
  await providerOf(double).complete(REQUEST);
  assertEquals(double.requests[0]?.headers.get("authorization"), "Bearer secret-key");
});

for (const apiKey of [undefined, ""]) {
  Deno.test(`without a key (${JSON.stringify(apiKey)}) no authorization is sent`, async () => {
    await using double = await startProviderDouble(completion());
    const { baseUrl } = double;
    const settings = { name: "hub", baseUrl, timeoutMs: 30_000, retries: 0 };
    await createOpenAIProvider(apiKey === undefined ? settings : { ...settings, apiKey })
      .complete(REQUEST);
    assertEquals(double.requests[0]?.headers.has("authorization"), false);
  });
}

Deno.test("a completion is translated whole", async () => {
  await using double = await startProviderDouble(json({
    ...completionBody({ content: "Hello." }),
    system_fingerprint: "fp_1",
    service_tier: "default",
    usage: {
      prompt_tokens: 5,
      completion_tokens: 0,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: null, note: "x" },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  }));
  assertEquals(await providerOf(double).complete(REQUEST), {
    id: "chatcmpl-1",
    model: "acme/model-1",
    content: "Hello.",
    refusal: null,
    toolCalls: [],
    finishReason: "stop",
    usage: {
      promptTokens: 5,
      completionTokens: 0,
      totalTokens: 5,
      promptDetails: { cached_tokens: 0 },
      completionDetails: { reasoning_tokens: 3 },
    },
    systemFingerprint: "fp_1",
    serviceTier: "default",
    logprobs: null,
  });
});

Deno.test("what a provider left out of a completion is null", async () => {
  await using double = await startProviderDouble(
    json({ choices: [{ message: { content: null } }] }),
  );
  assertEquals(await providerOf(double).complete(REQUEST), {
    id: null,
    model: "acme/model-1",
    content: null,
    refusal: null,
    toolCalls: [],
    finishReason: null,
    usage: null,
    systemFingerprint: null,
    serviceTier: null,
    logprobs: null,
  });
});

const USAGES: [sent: unknown, expected: unknown][] = [
  [null, null],
  [{}, null],
  [{ prompt_tokens: 1, completion_tokens: 2 }, [1, 2, 3, null, null]],
  [{ prompt_tokens: 1, completion_tokens: null, total_tokens: 1 }, [1, 0, 1, null, null]],
  [{ total_tokens: 4, prompt_tokens_details: null }, [0, 0, 4, null, null]],
  [{ total_tokens: 4, prompt_tokens_details: {} }, [0, 0, 4, null, null]],
  [{ total_tokens: 4, prompt_tokens_details: { cached_tokens: null } }, [0, 0, 4, null, null]],
  [{ total_tokens: 4, completion_tokens_details: 0 }, [0, 0, 4, null, null]],
  [{ total_tokens: 4, completion_tokens_details: { a: 0, b: "1" } }, [0, 0, 4, null, { a: 0 }]],
];
for (const [sent, expected] of USAGES) {
  Deno.test(`usage ${JSON.stringify(sent)} is read for what it holds`, async () => {
    await using double = await startProviderDouble(json({ ...completionBody(), usage: sent }));
    const { usage } = await providerOf(double).complete(REQUEST);
    assertEquals(usage && Object.values(usage), expected);
  });
}

Deno.test("tool calls are read, also without ids and with arguments that are objects", async () => {
  const tool_calls = [
    { id: "abcdefghi", type: "function", function: { name: "one", arguments: "{not json" } },
    { function: { name: "two", arguments: { a: 1 } } },
    { id: "", function: { name: "three", arguments: null } },
    { id: null },
  ];
  await using double = await startProviderDouble(json({ choices: [{ message: { tool_calls } }] }));
  const { toolCalls } = await providerOf(double).complete(REQUEST);
  assertEquals(toolCalls.map((call) => [call.name, call.arguments]), [
    ["one", "{not json"],
    ["two", '{"a":1}'],
    ["three", ""],
    ["", ""],
  ]);
  assertEquals(toolCalls[0]?.id, "abcdefghi");
  for (const { id } of toolCalls) assertMatch(id, /^[a-z0-9]{9}$/);
  assertEquals(new Set(toolCalls.map(({ id }) => id)).size, 4);
});

Deno.test("an empty model in an answer is the one that was asked, whole or streamed", async () => {
  const chunks = sse(completionChunks({ model: "" }));
  await using double = await startProviderDouble([completion({ model: "" }), chunks]);
  const whole = await providerOf(double).complete(REQUEST);
  const last = (await Array.fromAsync(providerOf(double).stream(REQUEST))).at(-1);
  assert(last?.type === "reply");
  assertEquals([whole.model, last.reply.model], [REQUEST.model, REQUEST.model]);
});

Deno.test("content in parts is joined", async () => {
  const content = [{ type: "text", text: "Hel" }, { type: "other" }, { type: "text", text: "lo" }];
  await using double = await startProviderDouble(json({ choices: [{ message: { content } }] }));
  assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello");
});

const NO_COMPLETIONS: Record<string, Answer> = {
  "an object without choices": json({ id: "x" }),
  "no choice": json({ choices: [] }),
  "a choice without a message": json({ choices: [{ text: "Hi" }] }),
  "an array": json([]),
  "null": json(null),
  "malformed JSON": raw('{"choices": [', { headers: { "content-type": "application/json" } }),
  "an empty body": raw("", { headers: { "content-type": "application/json" } }),
  "HTML": raw("<html>Sign in</html>", { headers: { "content-type": "text/html" } }),
  "plain text": raw("Hello there.", { headers: { "content-type": "text/plain" } }),
  "blank text without a content type": raw(" \n"),
};
for (const [what, answer] of Object.entries(NO_COMPLETIONS)) {
  for (const way of ["complete", "stream"] as const) {
    Deno.test(`${way}: ${what} is an unreadable answer`, async () => {
      const error = await failure(answer, (double) => WAYS[way](providerOf(double)));
      assertEquals([error.status, error.code], [502, "provider_error"]);
      assertEquals(error.failure, { kind: "unreadable" });
      assertMatch(
        error.message,
        /^cannot get a reply from hub for model "acme\/model-1": its answer is unreadable \(status 200/,
      );
    });
  }
}

Deno.test("models are listed by the name that people know, else by their id", async () => {
  await using double = await startProviderDouble(json({
    data: [
      { id: "1", name: "Name", display_name: "Display", suffix: "Suffix" },
      { id: "2", display_name: "Display", suffix: "Suffix" },
      { id: "3", name: " ", display_name: null, suffix: "Suffix" },
      { id: "4", object: "model" },
      { name: "no id" },
      null,
    ],
  }));
  const models = await providerOf(double).listModels();
  assertEquals(double.requests[0]?.path, "/v1/models");
  assertEquals(models, [
    { id: "1", name: "Name" },
    { id: "2", name: "Display" },
    { id: "3", name: "Suffix" },
    { id: "4", name: "4" },
  ]);
});

Deno.test("Together's list of models, which has no data, and Ollama's empty one are read", async () => {
  await using double = await startProviderDouble([
    json([{ id: "meta/llama", display_name: "Llama" }]),
    json({ object: "list", data: null }),
  ]);
  const provider = providerOf(double);
  assertEquals(await provider.listModels(), [{ id: "meta/llama", name: "Llama" }]);
  assertEquals(await provider.listModels(), []);
});

for (const answer of [raw("<html>"), json({ models: [] }), json(null)]) {
  Deno.test(`a list of models that is none is unreadable (${await bodyOf(answer)})`, async () => {
    const error = await failure(answer, (double) => providerOf(double).listModels());
    assertEquals(error.failure, { kind: "unreadable" });
    assertMatch(error.message, /^cannot list the models of hub: its answer is unreadable \(status/);
  });
}

Deno.test("a provider without a list of models is no unknown model", async () => {
  const error = await failure(errorStatus(404), (double) => providerOf(double).listModels());
  assertEquals([error.status, error.code], [502, "provider_error"]);
  assertEquals(
    error.message,
    "cannot list the models of hub: it answered status 404: raw words of the provider",
  );
});

async function bodyOf(answer: Answer): Promise<string> {
  return await (await answer({} as Parameters<Answer>[0])).text();
}

const call = { id: "1", name: "add", arguments: "{}" };
const CALLED: ChatMessage[] = [{ role: "assistant", content: "", toolCalls: [call] }];
const tool = { name: "add", description: "", parameters: {} };
const { newerLimit: TO_NEWER, olderLimit: TO_OLDER, toolHistory: TOOL_HISTORY }: Record<
  string,
  Adaptation | undefined
> = ADAPTATIONS;

const request = (fields: Partial<ChatRequest>): ChatRequest => ({
  model: "m",
  messages: [],
  ...fields,
});

Deno.test("only a conversation with tool calls and without tools gets their definitions", () => {
  const applies = (fields: Partial<ChatRequest>) => TOOL_HISTORY!.applies(request(fields));
  assertEquals(applies({ messages: CALLED }), true);
  assertEquals(applies({ messages: CALLED, tools: [] }), true);
  assertEquals(applies({ messages: CALLED, tools: [tool] }), false);
  assertEquals(applies({}), false);
});

Deno.test("a limit of tokens goes by its other name", () => {
  const extra = { max_completion_tokens: 5, seed: 1 };
  assertEquals(TO_NEWER!.applies(request({ maxTokens: 5 })), true);
  assertEquals(TO_NEWER!.applies(request({ extra })), false);
  assertEquals(TO_OLDER!.applies(request({ extra })), true);
  assertEquals(TO_OLDER!.applies(request({ extra, maxTokens: 5 })), false);
  assertEquals(TO_OLDER!.applies(request({ extra: { max_completion_tokens: "5" } })), false);
  assertEquals(TO_OLDER!.adapt(request({ extra })), request({ extra: { seed: 1 }, maxTokens: 5 }));
  assertEquals(TO_NEWER!.adapt(request({ extra: { seed: 1 }, maxTokens: 5 })), request({ extra }));
});

const OLDER = "max_tokens";
const NEWER = "max_completion_tokens";

/** Each refuses one name of the token limit, with its own error. */
const OPENAI = refusing(
  OLDER,
  errorStatus(400, {
    message: `Unsupported parameter: '${OLDER}' is not supported with this model. ` +
      `Use '${NEWER}' instead.`,
  }),
);
const MISTRAL = refusing(
  NEWER,
  json({
    object: "error",
    message: {
      detail: [{
        type: "extra_forbidden",
        loc: ["body", NEWER],
        msg: "Extra inputs are not permitted",
      }],
    },
  }, { status: 422 }),
);

function refusing(field: string, refusal: Answer): Answer {
  return (request) => {
    if (field in request.body) return refusal(request);
    return (request.body.stream ? sse(completionChunks()) : completion())(request);
  };
}

const limitsOf = ({ body }: ReceivedRequest) => [body[OLDER], body[NEWER]];
const MESSAGES = [{ role: "user", content: "Hi" }];

for (const stream of [false, true]) {
  const way = stream ? "streamed" : "whole";

  Deno.test(`a model that refuses max_tokens gets the limit under its newer name, ${way}`, async () => {
    await using double = await startProviderDouble(OPENAI);
    const { post } = openAIRoutes(hubOf(double));
    for (let call = 0; call < 2; call++) {
      const body = { input: "Hi", max_output_tokens: 9, stream };
      const response = await post("responses", body);
      assertEquals(response.status, 200);
      await response.body?.cancel();
    }
    const newer = [undefined, 9];
    assertEquals(double.requests.map(limitsOf), [[9, undefined], newer, newer]);
  });

  Deno.test(`a model that refuses max_completion_tokens gets the limit under its older name, ${way}`, async () => {
    await using double = await startProviderDouble(MISTRAL);
    const { post } = openAIRoutes(hubOf(double));
    for (let call = 0; call < 2; call++) {
      const body = { messages: MESSAGES, [NEWER]: 9, stream };
      const response = await post("chat/completions", body);
      assertEquals(response.status, 200);
      await response.body?.cancel();
    }
    const older = [9, undefined];
    assertEquals(double.requests.map(limitsOf), [[undefined, 9], older, older]);
  });
}

Deno.test("a limit that is too large is reported after one call, under either name", async () => {
  for (const name of [OLDER, NEWER]) {
    const message = `${name} is too large: 9. This model supports at most 4 completion tokens.`;
    await using double = await startProviderDouble(errorStatus(400, { message }));
    const body = { messages: MESSAGES, [name]: 9 };
    const response = await openAIRoutes(hubOf(double)).post("chat/completions", body);
    assertEquals([response.status, double.requests.length], [400, 1]);
    assertEquals((await response.json()).error.message, message);
  }
});

Deno.test("a model that refuses both names is asked once more with each", async () => {
  const message = `Unsupported parameter: use ${NEWER} instead`;
  await using double = await startProviderDouble(errorStatus(400, { message }));
  const body = { messages: MESSAGES, [OLDER]: 9 };
  const response = await openAIRoutes(hubOf(double)).post("chat/completions", body);
  assertEquals([response.status, double.requests.length], [400, 3]);
});

Deno.test("keep-alive comments count as life: a queued model is waited for", async () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  await using double = await startProviderDouble(() => {
    let comments = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (comments++ < 25) return controller.enqueue(encode(": queued\n\n"));
        for (const chunk of completionChunks({ content: "Hi" })) {
          controller.enqueue(encode(`data: ${JSON.stringify(chunk)}\n\n`));
        }
        controller.enqueue(encode("data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  await loadOpenAI(); // slow on a busy machine
  // Less than the comments take together, and more than there is between two of them.
  const deltas = await Array.fromAsync(providerOf(double, { timeoutMs: 2_000 }).stream(REQUEST));
  const last = deltas.at(-1);
  assertEquals(last?.type === "reply" && last.reply.content, "Hi");
});

Deno.test("a spent quota is not asked for again", async () => {
  await using double = await startProviderDouble(() =>
    Response.json({ error: { code: "insufficient_quota", message: "No credit." } }, { status: 429 })
  );
  const provider = providerOf(double, { retries: 2 });
  const error = await assertRejects(() => provider.complete(REQUEST), ProviderError);
  assertEquals([error.code, double.requests.length], ["rate_limited", 1]);
});

const JSON_TEXT = '{"city": "Oslo"}';
const SCHEMA = { name: "city", schema: { type: "object" } };

/** Errors of Groq, Gemini, Vertex, Cerebras and Fireworks. */
const REFUSALS = [
  "json mode cannot be combined with tool/function calling",
  "Function calling with a response mime type: 'application/json' is unsupported",
  "Unable to submit request because controlled generation is not supported with Function Calling tool.",
  '"tools" is incompatible with "response_format"',
  "You cannot specify response format and function call at the same time",
];

/** A provider that refuses JSON together with tools. */
function strict(message: string): Answer {
  return (request) => {
    const { tools, response_format, stream } = request.body;
    const isJson = ["json_object", "json_schema"].includes(response_format?.type);
    if (tools && isJson) return errorStatus(400, { message })(request);
    const fields = { content: JSON_TEXT };
    return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
  };
}

const toolNames = ({ body }: ReceivedRequest) =>
  // deno-lint-ignore no-explicit-any
  body.tools?.map((tool: any) => tool.function.name);

const OWN = ["current_time", "calculator"];

/** What a client asks for JSON with, on each route, streamed or not. */
const BODIES = {
  "chat/completions": {
    messages: [{ role: "user", content: "Which city?" }],
    response_format: { type: "json_schema", json_schema: SCHEMA },
  },
  responses: { input: "Which city?", text: { format: { type: "json_schema", ...SCHEMA } } },
} as const;

for (const route of ["chat/completions", "responses"] as const) {
  for (const stream of [false, true]) {
    Deno.test(`${route}, stream ${stream}: a model that refuses JSON with tools is asked without the agent's`, async () => {
      for (const refusal of REFUSALS) {
        await using double = await startProviderDouble(strict(refusal));
        const { post } = openAIRoutes(hubOf(double));
        for (let asked = 0; asked < 2; asked++) {
          const response = await post(route, { ...BODIES[route], stream, tool_choice: "auto" });
          assertEquals(response.status, 200, refusal);
          assertStringIncludes(await response.text(), "Oslo");
        }
        assertEquals(double.requests.map(toolNames), [OWN, undefined, undefined], refusal);
        assertEquals(double.requests.at(-1)!.body.tool_choice, undefined);
      }
    });
  }
}

Deno.test("such a model is offered the agent's tools where no JSON is asked for", async () => {
  await using double = await startProviderDouble(strict(REFUSALS[0]!));
  const { post } = openAIRoutes(hubOf(double));
  const { response_format: _, ...body } = BODIES["chat/completions"];
  await (await post("chat/completions", BODIES["chat/completions"])).text();
  await (await post("chat/completions", body)).text();
  assertEquals(double.requests.map(toolNames), [OWN, undefined, OWN]);
});

Deno.test("the caller's own tools are not left out: the refusal is passed on", async () => {
  await using double = await startProviderDouble(strict(REFUSALS[0]!));
  const { post } = openAIRoutes(hubOf(double));
  const tools = [{ type: "function", function: { name: "look_up" } }];
  const response = await post("chat/completions", { ...BODIES["chat/completions"], tools });
  assertEquals([response.status, double.requests.length], [400, 1]);
  assertStringIncludes(await response.text(), REFUSALS[0]!);
});

Deno.test("a refusal of the format alone is passed on after one call", async () => {
  const message = "Invalid schema for response_format 'city': additionalProperties is required.";
  await using double = await startProviderDouble(strict(message));
  const { post } = openAIRoutes(hubOf(double));
  const response = await post("chat/completions", BODIES["chat/completions"]);
  assertEquals([response.status, double.requests.length], [400, 1]);
  assertStringIncludes(await response.text(), message);
});
