import { assertEquals } from "@std/assert";
import { readChunks } from "../../fakes/events.ts";
import { hubOf } from "../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import { completionChunks, json, sse, startProviderDouble } from "../../fakes/provider_double.ts";

const CALL = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
const ANSWER = {
  id: "x1",
  object: "chat.completion",
  created: 5,
  model: "m-1",
  choices: [
    { index: 0, message: { role: "assistant", content: "A" }, finish_reason: "stop" },
    {
      index: 1,
      message: { role: "assistant", content: null, tool_calls: [CALL] },
      finish_reason: "tool_calls",
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
};

/** The chunks of a plain request for a stream that is answered with all at once. */
async function chunksOf(body: Record<string, unknown>) {
  await using double = await startProviderDouble(json(ANSWER));
  const { post } = openAIRoutes(hubOf(double));
  const messages = [{ role: "user", content: "Hi" }];
  return await readChunks(
    await post("chat/completions", { model: "a/b:plain", messages, n: 2, stream: true, ...body }),
  );
}

Deno.test("a plain stream from an endpoint that does not stream has all choices", async () => {
  const [chunk, ...more] = await chunksOf({});
  assertEquals(chunk, {
    id: "x1",
    object: "chat.completion.chunk",
    created: 5,
    model: "m-1",
    choices: [
      { index: 0, delta: { role: "assistant", content: "A" }, finish_reason: "stop" },
      {
        index: 1,
        delta: { role: "assistant", content: null, tool_calls: [{ index: 0, ...CALL }] },
        finish_reason: "tool_calls",
      },
    ],
  });
  assertEquals(more, []);
});

Deno.test("it ends with the usage if that was asked for", async () => {
  const chunks = await chunksOf({ stream_options: { include_usage: true } });
  assertEquals(chunks.map(({ choices, usage }) => [choices.length, usage?.total_tokens]), [
    [2, undefined],
    [0, 3],
  ]);
});

/** A plain request without `stream` whose answer is a stream all the same. */
async function streamedAnswer(body: Record<string, unknown>) {
  const call = { name: "look", arguments: "{}" };
  const chunks = completionChunks({ content: "Hello.", toolCalls: [call] });
  await using double = await startProviderDouble(sse(chunks));
  const { post } = openAIRoutes(hubOf(double));
  const messages = [{ role: "user", content: "Hi" }];
  return await post("chat/completions", { model: "a/b:plain", messages, ...body });
}

Deno.test("a plain reply that is streamed unasked comes back whole, with its calls and usage", async () => {
  const response = await streamedAnswer({});
  assertEquals(response.status, 200);
  const { choices: [{ message }], usage } = await response.json();
  const [{ function: called }] = message.tool_calls;
  assertEquals([message.content, called, usage.total_tokens], [
    "Hello.",
    { name: "look", arguments: "{}" },
    12,
  ]);
});

Deno.test("several choices that are streamed unasked are an error: none may be lost", async () => {
  assertEquals((await streamedAnswer({ n: 2 })).status, 502);
});
