import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { assertEquals, assertObjectMatch } from "@std/assert";
import { jsonSchema, streamText, tool } from "ai";
import { agentService } from "../../../fakes/agent_service.ts";
import { readChunks } from "../../../fakes/events.ts";
import { hubOf, providerOf } from "../../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../../fakes/openai_routes.ts";
import {
  type Answer,
  completionChunks,
  json,
  sse,
  startProviderDouble,
} from "../../../fakes/provider_double.ts";
import deepseek from "../../recordings/deepseek.json" with { type: "json" };
import gemini from "../../recordings/gemini.json" with { type: "json" };
import mistral from "../../recordings/mistral.json" with { type: "json" };
import ollama from "../../recordings/ollama.json" with { type: "json" };
import openai from "../../recordings/openai.json" with { type: "json" };
import openrouter from "../../recordings/openrouter.json" with { type: "json" };

/** What goes through the service unchanged, with the real adapter and a provider over HTTP. */

const MESSAGES = [{ role: "user", content: "Hi" }];

async function serve(...answers: Answer[]) {
  const double = await startProviderDouble(answers);
  const { post } = openAIRoutes(providerOf(double));
  const ask = (body: Record<string, unknown>) =>
    post("chat/completions", { model: "acme/m", messages: MESSAGES, ...body });
  return { double, ask, [Symbol.asyncDispose]: () => double[Symbol.asyncDispose]() };
}

const choice = (index: number, content: string) => ({
  index,
  message: { role: "assistant", content, annotations: [{ type: "url_citation" }] },
  finish_reason: "stop",
  logprobs: null,
});
const chunk = (choices: unknown[], more = {}) => ({
  id: "gen-1",
  object: "chat.completion.chunk",
  created: 7,
  model: "acme/m-2",
  choices,
  ...more,
});
const delta = (fields: unknown, more = {}) => chunk([{ index: 0, delta: fields, ...more }]);

Deno.test("a stream that begins with thoughts opens without a text: clients would show an empty one", async () => {
  const chunks = [delta({ reasoning_content: "A sum." }), delta({ content: "4" })];
  await using service = await serve(sse([...chunks, delta({}, { finish_reason: "stop" })]));
  const [opening, thoughts] = await readChunks(await service.ask({ stream: true }));
  assertEquals(opening.choices[0].delta, { role: "assistant", content: null });
  assertEquals(thoughts.choices[0].delta.reasoning_content, "A sum.");
});

Deno.test("the agent's answer has the thoughts, and the details of all its usage", async () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 4,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 6 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  const call = { id: "c1", type: "function", function: { name: "calculator" } };
  const ask = { ...call, function: { ...call.function, arguments: '{"expression":"2+2"}' } };
  const answer = (message: unknown, finish_reason: string) =>
    json({ id: "x", choices: [{ index: 0, message, finish_reason }], usage });
  await using service = await serve(
    answer({ content: null, tool_calls: [ask], reasoning_content: "A sum." }, "tool_calls"),
    answer({ content: "4", reasoning_content: "Done." }, "stop"),
  );
  const completion = await (await service.ask({})).json();
  assertObjectMatch(completion.choices[0].message, { content: "4", reasoning_content: "Done." });
  assertEquals(completion.usage, {
    prompt_tokens: 20,
    completion_tokens: 8,
    total_tokens: 28,
    prompt_tokens_details: { cached_tokens: 12 },
    completion_tokens_details: { reasoning_tokens: 6 },
  });
});

Deno.test("the agent streams log probabilities with their text", async () => {
  const tokens = ["It ", "is."].map((token) => ({ token, logprob: -0.1 }));
  await using service = await serve(sse([
    ...tokens.map((token) => delta({ content: token.token }, { logprobs: { content: [token] } })),
    delta({}, { finish_reason: "stop" }),
  ]));
  const chunks = await readChunks(await service.ask({ stream: true, logprobs: true }));
  const seen = chunks.flatMap(({ choices: [{ delta, logprobs }] }) =>
    delta.content ? [[delta.content, logprobs.content]] : []
  );
  assertEquals(seen, tokens.map((token) => [token.token, [token]]));
  assertEquals(chunks.at(-1).choices[0].logprobs, null);
});

Deno.test("a system message within a conversation stays there", async () => {
  const answer = json({ choices: [choice(0, "Yes.")] });
  const messages = [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi", name: "ann" },
    { role: "assistant", content: "Hello" },
    { role: "developer", content: "Be brief." },
    { role: "user", content: "Why?" },
  ];
  await using service = await serve(answer);
  await service.ask({ model: "openai/m", messages });
  const [kept] = service.double.requests.map(({ body }) => body.messages);
  assertEquals(
    kept,
    messages.map((message) =>
      message.role === "developer" ? { ...message, role: "system" } : message
    ),
  );
});

Deno.test("functions, which clients of 2023 send in place of tools, are refused with what to send", async () => {
  await using service = await serve(json({ choices: [choice(0, "Hi")] }));
  const response = await service.ask({ functions: [{ name: "get_weather" }] });
  assertEquals(response.status, 400);
  const { error } = await response.json();
  assertEquals([error.code, error.param], ["unsupported_parameter", "functions"]);
});

Deno.test("the thoughts of a streamed answer come once, under one name", async () => {
  for (const name of ["reasoning_content", "reasoning"]) {
    await using service = await serve(sse([
      delta({ role: "assistant", [name]: "A greet" }),
      delta({ [name]: "ing." }),
      delta({ content: "Hello" }, { finish_reason: "stop" }),
    ]));
    const chunks = await readChunks(await service.ask({ stream: true }));
    // As clients that know both names read them.
    const thoughts = chunks.flatMap(({ choices: [{ delta }] }) => [
      delta.reasoning_content ?? "",
      delta.reasoning ?? "",
    ]);
    assertEquals(thoughts.join(""), "A greeting.");

    // Sent back as a client joins it, the provider gets them under its own name again.
    const rest = Object.assign({}, ...chunks.map(({ choices: [{ delta }] }) => delta));
    const answer = { ...rest, content: "Hello", reasoning_content: "A greeting." };
    await (await service.ask({ messages: [...MESSAGES, answer, ...MESSAGES] })).body?.cancel();
    const { role: _, content: __, ...sent } = service.double.requests.at(-1)!.body.messages
      .find(({ role }: { role: string }) => role === "assistant");
    assertEquals(sent, { [name]: "A greeting." });
  }
});

/** A request without `stream` whose provider answers with a stream. */
async function streamedAnswer() {
  const call = { name: "look", arguments: "{}" };
  const chunks = completionChunks({ content: "Hello.", toolCalls: [call] });
  await using double = await startProviderDouble(sse(chunks));
  const { post } = openAIRoutes(hubOf(double));
  const messages = [{ role: "user", content: "Hi" }];
  const tools = [{ type: "function", function: { name: "look" } }];
  return await post("chat/completions", { model: "a/b:plain", messages, tools });
}

Deno.test("a plain reply that is streamed unasked comes back whole, with its calls and usage", async () => {
  const response = await streamedAnswer();
  assertEquals(response.status, 200);
  const { choices: [{ message }], usage } = await response.json();
  const [{ function: called }] = message.tool_calls;
  assertEquals([message.content, called, usage.total_tokens], [
    "Hello.",
    { name: "look", arguments: "{}" },
    12,
  ]);
});

/** The AI SDK checks each chunk with its own schema; one that does not fit is an error part. */
for (const { model, chunks } of [gemini, deepseek, openai, mistral, ollama, openrouter]) {
  Deno.test(`every chunk of a streamed tool call of ${model} fits the AI SDK's schema`, async () => {
    // The tool of the recording is the caller's here, so its name must not be the agent's own.
    const [first] = JSON.parse(JSON.stringify(chunks).replaceAll('"calculator"', '"their_tool"'));
    await using double = await startProviderDouble(sse(first));
    const { service } = agentService(providerOf(double));
    const provider = createOpenAICompatible({
      name: "agent",
      baseURL: "http://127.0.0.1/v1",
      fetch: async (url, init) => await service(new Request(url, init)),
    });
    const their_tool = tool({
      inputSchema: jsonSchema<object>({ type: "object" }),
      execute: () => "",
    });
    const parts = await Array.fromAsync(
      streamText({
        model: provider(model),
        prompt: "What is 17 * 23?",
        tools: { their_tool },
        maxRetries: 0,
      }).stream,
    );
    assertEquals(parts.filter(({ type }) => type === "error"), []);
    const called = parts.flatMap((part) => part.type === "tool-call" ? [part.toolName] : []);
    assertEquals([...new Set(called)], ["their_tool"]);
  });
}
