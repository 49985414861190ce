import { assertEquals } from "@std/assert";
import { type Chunk, createAnswerBuilder } from "../../../agent/pages/answer_stream.ts";
import type { Answer } from "../../../agent/pages/conversation/conversation.ts";
import { toChunk, toUsageChunk } from "../../../agent/openai/completion.ts";

const frame = { id: "c", created: 0, model: "a/answered" };
const fresh: Answer = { model: "a/b", status: "streaming", parts: [] };
const chunk = (delta: unknown) => toChunk(frame, { delta }) as Chunk;

function clock() {
  let now = 0;
  return { now: () => now, pass: (ms: number) => void (now += ms) };
}

Deno.test("text, reasoning and tool calls become parts, in the order in which they came", () => {
  const builder = createAnswerBuilder(fresh);
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
  const builder = createAnswerBuilder(fresh);
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
  const builder = createAnswerBuilder(fresh, now);
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
  const builder = createAnswerBuilder(fresh, () => 0);
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
    const builder = createAnswerBuilder(fresh, () => 0);
    builder.add(toChunk(frame, { finishReason }) as Chunk);
    assertEquals(builder.end("done").facts?.stopped, stopped);
  }
});

Deno.test("calls that wait become parts at the end, and the answer goes on with what they did", () => {
  const first = createAnswerBuilder(fresh, () => 0);
  const piece = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
  first.add(chunk({ content: "Let me see." }));
  first.add(piece(0, { id: "x", function: { name: "calculator", arguments: '{"expression":' } }));
  first.add(piece(0, { function: { arguments: '"1+1"}' } }));
  const call = { type: "tool", id: "x", name: "calculator", args: { expression: "1+1" } } as const;
  const waiting = first.end("done");
  const approval = { state: "waiting", round: 0 } as const;
  assertEquals(waiting.parts.at(-1), { ...call, approval });

  const approved = { ...call, approval: { ...approval, state: "approved" as const } };
  const rest = createAnswerBuilder(
    { ...waiting, parts: waiting.parts.with(-1, approved) },
    () => 0,
  );
  const { type: _, args, ...named } = call;
  rest.add(chunk({ tool_events: [{ type: "tool_call", ...named, args }] }));
  const result = { content: "2", status: "ok", ms: 1 } as const;
  rest.add(chunk({ tool_events: [{ type: "tool_result", ...named, ...result }] }));
  rest.add(chunk({ content: "It is 2." }));
  rest.add(piece(0, { id: "y", function: { name: "current_time", arguments: "{}" } }));
  const { parts, facts } = rest.end("done");
  assertEquals(parts, [
    { type: "text", text: "Let me see." },
    { ...approved, result },
    { type: "text", text: "It is 2." },
    {
      type: "tool",
      id: "y",
      name: "current_time",
      args: {},
      approval: { state: "waiting", round: 1 },
    },
  ]);
  assertEquals(facts?.modelCalls, 2);
});
