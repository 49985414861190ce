import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type {
  ChatDelta,
  ChatMessage,
  ChatProvider,
} from "../../../../shared/providers/provider.ts";
import { readChunks, readEvents } from "../../../fakes/events.ts";
import { keyOf, KEYS, openAIRoutes } from "../../../fakes/openai_routes.ts";
import { chatReply, createScriptedProvider, type Step } from "../../../fakes/scripted_provider.ts";

const TOOLS = [{
  type: "function",
  function: { name: "get_weather", parameters: { type: "object" }, strict: true },
}];
const QUESTION = { role: "user", content: "How is the weather, and what is 2+2?" };
const SUM = { id: "c1", name: "calculator", arguments: '{"expression":"2+2"}' };
const WEATHER = { id: "c2", name: "get_weather", arguments: '{"city":"Oslo"}' };

function serve(...steps: Step[]) {
  const provider = createScriptedProvider(...steps);
  const { post } = openAIRoutes(provider, { environment: KEYS });
  const ask = (body: Record<string, unknown>, caller = "ada") =>
    post("chat/completions", { messages: [QUESTION], tools: TOOLS, ...body }, keyOf(caller));
  const respond = (body: Record<string, unknown>) => post("responses", body, keyOf("ada"));
  return { provider, respond, ask };
}

/** The calls and results of a conversation, in their order. */
function stepsOf(messages: ChatMessage[] = []): unknown[] {
  return messages.flatMap((message) => {
    if (message.role === "tool") return [message.content];
    return message.role === "assistant" ? (message.toolCalls ?? []).map(({ name }) => name) : [];
  });
}

Deno.test("a caller's tools are offered beside the agent's, with all their fields", async () => {
  const { provider, ask } = serve({ content: "Sunny." });
  await ask({});
  const [request] = provider.requests;
  const names = request?.tools?.map(({ name }) => name);
  assertEquals(names, ["current_time", "calculator", "get_weather"]);
  assertEquals<unknown>(request?.tools?.at(-1), {
    name: "get_weather",
    parameters: { type: "object" },
    strict: true,
  });
});

Deno.test("a call of a caller's tool is the answer, and the loop continues with its result", async () => {
  const { provider, ask } = serve(
    { content: "Let me look.", toolCalls: [WEATHER], finishReason: "stop" },
    { toolCalls: [SUM] },
    { content: "Sunny, and 4." },
  );
  const [choice] = (await (await ask({})).json()).choices;
  const [call] = choice.message.tool_calls;
  assertEquals([choice.finish_reason, choice.message.content], ["tool_calls", "Let me look."]);
  assertMatch(call.id, /^call_[0-9a-f]{32}$/);
  const { name, arguments: args } = WEATHER;
  assertEquals(call, { type: "function", id: call.id, function: { name, arguments: args } });

  const result = { role: "tool", tool_call_id: call.id, content: "sunny" };
  const answer = await ask({ messages: [QUESTION, choice.message, result] });
  assertEquals((await answer.json()).choices[0].message.content, "Sunny, and 4.");
  const steps = stepsOf(provider.requests.at(-1)?.messages);
  assertEquals(steps, ["get_weather", "sunny", "calculator", "4"]);
});

Deno.test("what the agent did before and beside the caller's call is not done again", async () => {
  const { provider, ask } = serve(
    { toolCalls: [{ ...SUM, id: "c0" }] },
    { toolCalls: [{ ...SUM, id: "c1", arguments: '{"expression":"3+3"}' }, WEATHER] },
    { content: "Sunny." },
  );
  const response = await ask({});
  assertEquals(response.headers.get("x-agent-tool-calls"), "2");
  const [choice] = (await response.json()).choices;
  const calls: { id: string; function: { name: string } }[] = choice.message.tool_calls;
  assertEquals(calls.map((call) => call.function.name), ["get_weather"]);

  const result = { role: "tool", tool_call_id: calls[0]!.id, content: "sunny" };
  // Clients keep only what they know of a message.
  const assistant = { role: "assistant", content: null, tool_calls: calls };
  await ask({ messages: [QUESTION, assistant, result] });
  assertEquals(stepsOf(provider.requests.at(-1)?.messages), [
    ...["calculator", "4"],
    ...["calculator", "get_weather"],
    ...["6", "sunny"],
  ]);
});

Deno.test("what a run did is not used for a caller with another key", async () => {
  const { provider, ask } = serve({ toolCalls: [SUM, WEATHER] }, { content: "Sunny." });
  const [{ message }] = (await (await ask({})).json()).choices;
  const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "sunny" };
  const messages = [QUESTION, message, result];
  for (const caller of ["bob", "ada"]) await ask({ messages }, caller);
  const [bobs, adas] = provider.requests.slice(-2).map(({ messages }) => stepsOf(messages));
  assertEquals(bobs, ["get_weather", "sunny"]);
  assertEquals(adas, ["calculator", "get_weather", "4", "sunny"]);
});

Deno.test("calls of one turn that come back one by one are one turn again", async () => {
  const bergen = { ...WEATHER, id: "c3", arguments: '{"city":"Bergen"}' };
  const { provider, ask } = serve({ toolCalls: [SUM, WEATHER, bergen] }, { content: "Sunny." });
  const [{ message }] = (await (await ask({})).json()).choices;
  const messages = message.tool_calls.flatMap((call: { id: string }, index: number) => [
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, content: `result ${index}` },
  ]);
  await ask({ messages: [QUESTION, ...messages] });
  const steps = stepsOf(provider.requests.at(-1)?.messages);
  assertEquals(steps, ["calculator", "get_weather", "get_weather", "4", "result 0", "result 1"]);
});

Deno.test("a run with many calls is remembered, however much it has added", async () => {
  const toolCalls = Array.from({ length: 60 }, (_, index) => ({
    ...WEATHER,
    id: `w${index}`,
    arguments: JSON.stringify({ city: "x".repeat(10_000), index }),
  }));
  const { provider, ask } = serve({ toolCalls: [SUM, ...toolCalls] }, { content: "Sunny." });
  const [{ message }] = (await (await ask({})).json()).choices;
  const results = message.tool_calls.map(({ id }: { id: string }) => ({
    role: "tool",
    tool_call_id: id,
    content: "sunny",
  }));
  await ask({ messages: [QUESTION, message, ...results] });
  assertEquals(stepsOf(provider.requests.at(-1)?.messages).slice(0, 2), [
    "calculator",
    "get_weather",
  ]);
});

Deno.test("the result of a call that is not remembered is used as it is", async () => {
  const { provider, ask } = serve({ content: "Sunny." });
  const call = { id: "call_of_another_process", type: "function", function: WEATHER };
  const assistant = { role: "assistant", content: null, tool_calls: [call] };
  const result = { role: "tool", tool_call_id: call.id, content: "sunny" };
  await ask({ messages: [QUESTION, assistant, result] });
  assertEquals(stepsOf(provider.requests[0]?.messages), ["get_weather", "sunny"]);
});

Deno.test("the arguments of a caller's call are streamed in pieces, those of the agent's are not", async () => {
  const { ask } = serve({ content: null, toolCalls: [SUM, WEATHER] });
  const chunks = await readChunks(await ask({ stream: true }));
  const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assertEquals(pieces.map(({ index }) => index), [0, 0]);
  assertMatch(pieces[0].id, /^call_[0-9a-f]{32}$/);
  assertEquals(pieces[0].function.name, "get_weather");
  assertEquals(pieces[1].id, undefined);
  const args = pieces.map((piece) => piece.function.arguments).join("");
  assertEquals(args, WEATHER.arguments);
  assertEquals(chunks.at(-1).choices[0].finish_reason, "tool_calls");
});

Deno.test("a stream that begins with a call has no text, as OpenAI's: clients would show an empty one", async () => {
  for (const [content, first] of [[null, null], ["Let me look.", ""]]) {
    const { ask } = serve({ content: content!, toolCalls: [WEATHER] });
    const [opening] = await readChunks(await ask({ stream: true }));
    assertEquals(opening.choices[0].delta, { role: "assistant", content: first });
  }
});

Deno.test("a response has the caller's calls as items, and takes their results", async () => {
  const tools = [{ type: "function", ...TOOLS[0]!.function }];
  const input = [QUESTION];
  for (const stream of [false, true]) {
    const { provider, respond } = serve({ toolCalls: [SUM, WEATHER] }, { content: "Sunny." });
    const response = await respond({ input, tools, stream });
    const events = stream ? await Array.fromAsync(readEvents(response)) : [];
    const body = stream ? events.at(-1)!.data.response : await response.json();
    const [call, ...more] = body.output.filter(({ type }: { type: string }) =>
      type === "function_call"
    );
    assertEquals([call.name, call.arguments, call.status, more], [
      "get_weather",
      WEATHER.arguments,
      "completed",
      [],
    ]);
    assertEquals(
      events.filter(({ event }) => event === "response.function_call_arguments.delta").length,
      stream ? 2 : 0,
    );
    const output = { type: "function_call_output", call_id: call.call_id, output: "sunny" };
    await respond({ input: [...input, call, output], tools });
    const steps = stepsOf(provider.requests.at(-1)?.messages);
    assertEquals(steps, ["calculator", "get_weather", "4", "sunny"]);
  }
});

Deno.test("a forced tool call is forced once, and tool fields are sent only with tools", async () => {
  const { provider, ask } = serve({ toolCalls: [SUM] }, { content: "4" });
  await ask({ tool_choice: "required", parallel_tool_calls: false });
  assertEquals(provider.requests.map(({ extra }) => extra), [
    { tool_choice: "required", parallel_tool_calls: false },
    { parallel_tool_calls: false },
  ]);
  const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [] } });
  const choices = [
    ["auto", "auto"],
    [{ type: "function", function: { name: "calculator" } }, undefined],
    [allowed("required"), allowed("auto")],
  ];
  for (const [first, then] of choices) {
    const { provider, ask } = serve({ toolCalls: [SUM] }, { content: "4" });
    await ask({ tool_choice: first });
    assertEquals(provider.requests.map(({ extra }) => extra?.tool_choice), [first, then]);
  }

  const last = createScriptedProvider({ toolCalls: [SUM] }, { content: "4" });
  const { post } = openAIRoutes(last, { environment: { AGENT_MAX_STEPS: "1" } });
  await post("chat/completions", { messages: [QUESTION], parallel_tool_calls: true });
  assertEquals(last.requests.map(({ extra, tools }) => [Boolean(tools), extra]), [
    [true, { parallel_tool_calls: true }],
    [false, undefined],
  ]);
});

Deno.test("a forced tool call is still forced after an empty answer", async () => {
  const { provider, ask } = serve({ content: "" }, { toolCalls: [SUM] }, { content: "4" });
  await ask({ tool_choice: "required" });
  const choices = provider.requests.map(({ extra }) => extra?.tool_choice);
  assertEquals(choices, ["required", "required", undefined]);
});

Deno.test("a tool that the agent cannot offer is refused, before any call", async () => {
  const named = (name: string) => ({ type: "function", function: { name } });
  const cases: [unknown, string, string][] = [
    [named("calculator"), "tools.1", "rename yours"],
    [{ type: "custom", custom: { name: "x" } }, "tools.1.type", "only functions"],
    [{ type: "function", function: {} }, "tools.1.function.name", "missing"],
  ];
  for (const [tool, param, words] of cases) {
    const { provider, ask } = serve({});
    const response = await ask({ tools: [...TOOLS, tool] });
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.param], [400, "unsupported_parameter", param]);
    assertStringIncludes(error.message, words);
    assert(provider.requests.length === 0);
  }
});

/** A call whose id comes first, and whose name and arguments come after another whole call. */
const LATE_NAME: ChatDelta[] = [
  { type: "call", index: 0, id: "a", name: "", arguments: "" },
  { type: "call", index: 1, id: "b", name: "get_news", arguments: '{"b":2}' },
  { type: "call", index: 0, name: "get_weather", arguments: '{"a":1}' },
];
/** Arguments that come before the name. */
const LATER_NAME: ChatDelta[] = [
  { type: "call", index: 0, id: "a", name: "", arguments: '{"a"' },
  { type: "call", index: 1, id: "b", name: "get_news", arguments: '{"b":2}' },
  { type: "call", index: 0, name: "get_weather", arguments: ":1}" },
];
/** The second call is not announced. */
const UNANNOUNCED: ChatDelta[] = [
  { type: "call", index: 1, id: "b", name: "get_news", arguments: '{"b":2}' },
];

for (
  const [what, pieces] of [
    ["whose name comes late", LATE_NAME],
    ["whose name comes after its arguments", LATER_NAME],
    ["that is only in the whole reply", UNANNOUNCED],
  ] as const
) {
  Deno.test(`a streamed call ${what} reaches the caller once, as do those beside it`, async () => {
    const toolCalls = [
      { id: "a", name: "get_weather", arguments: '{"a":1}' },
      { id: "b", name: "get_news", arguments: '{"b":2}' },
    ];
    const provider: ChatProvider = {
      ...createScriptedProvider({}),
      async *stream() {
        yield* pieces;
        yield { type: "reply", reply: chatReply({ content: null, toolCalls }) };
      },
    };
    const { post } = openAIRoutes(provider);
    const tools = ["get_weather", "get_news"].map((name) => ({ name, parameters: {} }));
    const response = await post("chat/completions", {
      messages: [{ role: "user", content: "How is it?" }],
      tools: tools.map((tool) => ({ type: "function", function: tool })),
      stream: true,
    });
    const calls: { id: string; name: string; text: string }[] = [];
    const chunks = await readChunks(response);
    for (const piece of chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])) {
      const call = calls[piece.index] ??= { id: piece.id, name: "", text: "" };
      call.name += piece.function.name ?? "";
      call.text += piece.function.arguments ?? "";
    }
    assertEquals(calls.map(({ name, text }) => [name, text]), [
      ["get_news", '{"b":2}'],
      ["get_weather", '{"a":1}'],
    ]);
    assertEquals(new Set(calls.map(({ id }) => id)).size, 2);

    const streamed = await post("responses", {
      input: "How is it?",
      tools: tools.map((tool) => ({ type: "function", ...tool })),
      stream: true,
    });
    const events = await Array.fromAsync(readEvents(streamed));
    const { output } = events.at(-1)!.data.response;
    const items = output.map((item: Record<string, unknown>) => [item.name, item.arguments]);
    assertEquals(items, [["get_news", '{"b":2}'], ["get_weather", '{"a":1}']]);
  });
}

Deno.test("each turn is judged by its own text: JSON goes out, asides never do", async () => {
  const turn = (content: string): Step => ({ content, toolCalls: [SUM] });
  const { ask } = serve(turn("Let me see."), turn('{"sum":'), turn("Once more."), {
    content: "four",
  });
  const response_format = { type: "json_object" };
  const chunks = await readChunks(await ask({ tools: [], response_format, stream: true }));
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  assertEquals(text.replaceAll(/\s/g, ""), '{"sum":four');
});
