import { assert, assertEquals, assertMatch } from "@std/assert";
import { createOpenAIProvider } from "../../../shared/providers/openai_provider.ts";
import { failure, providerOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionBody,
  completionChunks,
  errorStatus,
  json,
  raw,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

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
