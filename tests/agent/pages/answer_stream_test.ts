import { assertEquals } from "@std/assert";
import { type Chunk, createAnswerBuilder } from "../../../agent/pages/answer_stream.ts";
import { toChunk, toUsageChunk } from "../../../agent/openai/completion.ts";

const frame = { id: "c", created: 0, model: "a/answered" };
const chunk = (delta: unknown) => toChunk(frame, { delta }) as Chunk;

function clock() {
  let now = 0;
  return { now: () => now, pass: (ms: number) => void (now += ms) };
}

Deno.test("text, reasoning and tool calls become parts, in the order in which they came", () => {
  const builder = createAnswerBuilder("a/b");
  const call = {
    type: "tool_call",
    id: "1",
    name: "calculator",
    args: { expression: "1+1" },
  } as const;
  const result = {
    type: "tool_result",
    id: "1",
    name: "calculator",
    content: "2",
    status: "ok",
    ms: 3,
  } as const;
  for (
    const delta of [
      { role: "assistant", content: "" },
      { reasoning_content: "Hm" },
      { reasoning_content: "m." },
      { content: "I will " },
      { content: "count." },
      { tool_events: [call] },
      { tool_events: [result] },
      { content: "\n\nIt is 2." },
    ]
  ) builder.add(chunk(delta));
  assertEquals(builder.answer().parts, [
    { type: "reasoning", text: "Hmm." },
    { type: "text", text: "I will count." },
    {
      type: "tool",
      id: "1",
      name: "calculator",
      args: { expression: "1+1" },
      result: { content: "2", status: "ok", ms: 3 },
    },
    { type: "text", text: "It is 2." },
  ]);
});

Deno.test("content in parts, as a model alone may send it, is text and reasoning", () => {
  const builder = createAnswerBuilder("a/b");
  for (
    const content of [
      [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }],
      [{ type: "thinking", thinking: "m." }, null],
      [{ type: "text", text: "It " }, "is "],
      "2.",
    ]
  ) builder.add(chunk({ content }));
  for (const field of [{ reasoning: { a: 1 } }, { content: 5 }, { refusal: [] }]) {
    builder.add(chunk(field));
  }
  assertEquals(builder.answer().parts, [
    { type: "reasoning", text: "Hmm." },
    { type: "text", text: "It is 2." },
  ]);
});

Deno.test("the facts are those of the agent's account, with the times that the person saw", () => {
  const { now, pass } = clock();
  const builder = createAnswerBuilder("a/b", now);
  pass(100);
  builder.add(chunk({ role: "assistant", content: "" }));
  pass(50);
  builder.add(chunk({ content: "Hi" }));
  pass(200);
  const account = {
    model: "a/fallback",
    model_calls: 2,
    tool_calls: 1,
    input_tokens: 10,
    output_tokens: 4,
    model_ms: 1,
    tools_ms: 1,
    stopped: null,
    history_repairs: "merged=1",
  };
  builder.add({ ...chunk({}), agent: account });
  assertEquals(builder.end("done").facts, {
    model: "a/fallback",
    modelCalls: 2,
    toolCalls: 1,
    inputTokens: 10,
    outputTokens: 4,
    firstTokenMs: 150,
    totalMs: 350,
    repairs: "merged=1",
  });
});

Deno.test("without the agent the facts come from the usage of the one call", () => {
  const builder = createAnswerBuilder("a/b", () => 0);
  builder.add(chunk({ content: "Hi" }));
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  builder.add(toUsageChunk(frame, usage));
  const { facts } = builder.end("done");
  assertEquals([facts?.modelCalls, facts?.inputTokens, facts?.outputTokens], [1, 5, 7]);
  assertEquals(builder.end("stopped").facts, undefined);
});

Deno.test("an answer that a limit of the provider ended says so, with text or without", () => {
  const reasons = { length: "max_tokens", content_filter: "content_filter", stop: undefined };
  for (const [finishReason, stopped] of Object.entries(reasons)) {
    const builder = createAnswerBuilder("a/b", () => 0);
    builder.add(toChunk(frame, { finishReason }) as Chunk);
    assertEquals(builder.end("done").facts?.stopped, stopped);
  }
});
