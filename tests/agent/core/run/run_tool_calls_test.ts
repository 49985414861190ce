import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { createCallerTools } from "../../../../agent/core/run/caller_tools.ts";
import { ToolError } from "../../../../agent/core/tools/tool.ts";
import { textOf } from "../../../../shared/providers/content.ts";
import type { ChatMessage, ToolCall } from "../../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { readChunks, readEvents } from "../../../fakes/events.ts";
import { openAIRoutes } from "../../../fakes/openai_routes.ts";
import { createScriptedProvider, never, type Step } from "../../../fakes/scripted_provider.ts";
import { call, calls, echo, run, tool, toolMessages } from "../../../fakes/scripted_run.ts";

Deno.test("calls of one turn run in parallel and are answered in their order", async () => {
  const both = Promise.withResolvers<void>();
  let running = 0;
  const meet = (name: string) =>
    tool(name, async () => {
      if (++running === 2) both.resolve();
      await both.promise;
      return name;
    });
  const provider = createScriptedProvider(
    calls(call({ id: "x", name: "one" }), call({ id: "y", name: "two" })),
    {},
  );
  await run(provider, { tools: [meet("one"), meet("two")] });
  assertEquals(toolMessages(provider), ["one", "two"]);
});

Deno.test("the answer to a call that cannot be run tells the model how to correct it", async () => {
  const secret = () => {
    throw new Error("secret of the inside");
  };
  const mendable = () => {
    throw new ToolError("no such city; try Paris");
  };
  const cases: [Partial<ToolCall>, string][] = [
    [{ arguments: '{"text":' }, '{"text":'],
    [{ arguments: '["a"]' }, "JSON object"],
    [{ arguments: '{"text":5}' }, "text"],
    [{ arguments: "{}" }, "text"],
    [{ name: "nope" }, "echo, fails, mendable"],
    [{ name: "mendable", arguments: "" }, "no such city; try Paris"],
    [{ name: "fails", arguments: "{}" }, "fails failed"],
  ];
  for (const [fields, expected] of cases) {
    const provider = createScriptedProvider(calls(call(fields)), { content: "mended" });
    const result = await run(provider, {
      tools: [echo, tool("fails", secret), tool("mendable", mendable)],
    });
    assertEquals(result.reply.content, "mended");
    const [told = ""] = toolMessages(provider);
    assertStringIncludes(told, expected);
    assert(!told.includes("secret"), "an error of the inside must not reach the model");
  }
});

Deno.test("null stands for no arguments, and for an argument that may be left out", async () => {
  const schema = z.object({ text: z.string().default("nothing"), more: z.string().optional() });
  const lenient = { ...echo, schema };
  for (const given of ["null", '{"text":null,"more":null}', '{"text":"nothing","more":null}']) {
    const provider = createScriptedProvider(calls(call({ arguments: given })), {});
    await run(provider, { tools: [lenient] });
    assertEquals(toolMessages(provider), ["echo: nothing"]);
    const sent = provider.requests[1]?.messages[1];
    assertEquals(
      sent?.role === "assistant" && sent.toolCalls?.[0]?.arguments,
      given === "null" ? "{}" : given,
    );
  }
  const strict = createScriptedProvider(calls(call({ arguments: '{"text":null}' })), {});
  await run(strict);
  assertStringIncludes(toolMessages(strict)[0]!, "expected string, received null");
});

Deno.test("arguments that are not JSON are not sent back in the history, which providers parse", async () => {
  const provider = createScriptedProvider(calls(call({ name: "bad name", arguments: "{" })), {});
  await run(provider);
  const assistant = provider.requests[1]?.messages[1];
  assertEquals(assistant, {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "c1", name: "bad_name", arguments: "{}" }],
  });
});

Deno.test("empty and repeated call ids are replaced", async () => {
  const provider = createScriptedProvider(
    calls(call({ id: "" }), call({ id: "same" })),
    calls(call({ id: "same" }), call({ id: "call00001" })),
    {},
  );
  await run(provider);
  const { messages } = provider.requests[2]!;
  const asked = messages.flatMap((m) => m.role === "assistant" ? m.toolCalls ?? [] : []);
  const answered = messages.flatMap((m) => m.role === "tool" ? [m.toolCallId] : []);
  assertEquals(asked.map(({ id }) => id), answered);
  assertEquals(answered, ["call00001", "same", "call00002", "call00003"]);
});

Deno.test("the same call is not run a third time, and the model is told so", async () => {
  let served = 0;
  const count = tool("count", () => `${++served}`);
  const same = (id: string, args = "{}") => call({ id, name: "count", arguments: args });
  const provider = createScriptedProvider(
    calls(same("a")),
    calls(same("b", " { } ")),
    calls(same("c"), call({ id: "d" })),
    { content: "done" },
  );
  await run(provider, { tools: [count, echo] });
  const [first, second, third, other] = toolMessages(provider);
  assertEquals([served, first, second, other], [2, "1", "2", "echo: a"]);
  assertStringIncludes(third ?? "", "already called 2 times with these arguments");
});

Deno.test("calls that could not be run do not count as repetitions of a correct one", async () => {
  const cases: [name: string, args: string][] = [
    ["count", "not JSON"],
    ["count", "[]"],
    ["count", JSON.stringify({ long: "x".repeat(1_000_000) })],
    ["co unt", "{}"],
  ];
  for (const [name, args] of cases) {
    let served = 0;
    const wrong = (id: string) => call({ id, name, arguments: args });
    const provider = createScriptedProvider(
      calls(wrong("a")),
      calls(wrong("b")),
      calls(call({ id: "c", name: name.replace(" ", "_"), arguments: "{}" })),
      {},
    );
    await run(provider, {
      tools: [tool("count", () => `${++served}`), tool("co_unt", () => `${++served}`)],
      maxSteps: 4,
    });
    assertEquals([served, toolMessages(provider).at(-1)], [1, "1"], `${name} ${args.slice(0, 20)}`);
  }
});

Deno.test("of three equal calls in one turn the third is not run; calls in the caller's history do not count", async () => {
  let served = 0;
  const count = tool("count", () => `${++served}`);
  const same = (id: string) => call({ id, name: "count", arguments: "{}" });
  const provider = createScriptedProvider(calls(same("a"), same("b"), same("c")), {});
  await run(provider, {
    tools: [count],
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "", toolCalls: [same("x")] },
      { role: "tool", toolCallId: "x", content: "0" },
    ],
  });
  assertEquals(served, 2);
});

Deno.test("one limit holds for all calls of a turn, those of the caller's tools included", async () => {
  const seen: unknown[] = [];
  const own = tool("own", (args) => (seen.push(args), "done"));
  const theirs = { name: "theirs", description: "", parameters: {} };
  const provider = createScriptedProvider(calls(
    call({ id: "c1", name: "theirs", arguments: JSON.stringify({ long: "x".repeat(999_989) }) }),
    call({ id: "c2", name: "own", arguments: '{"a":1}' }),
  ));
  const { pending, toolCalls } = await run(provider, {
    tools: [own],
    callerTools: createCallerTools([theirs]),
  });
  const [turn, result] = pending!.added;
  assertEquals(turn?.role === "assistant" && turn.toolCalls?.[1]?.arguments, "{}");
  assertStringIncludes(textOf(result!.content), "the arguments are too long");
  assertEquals([seen, toolCalls], [[], 0]);
});

Deno.test("a tool that takes too long is stopped, and the model is told so", async () => {
  const ended = Promise.withResolvers<void>();
  const slow = tool("slow", (_, { signal }) => {
    signal?.addEventListener("abort", () => ended.resolve());
    return never();
  });
  const provider = createScriptedProvider(calls(call({ name: "slow", arguments: "{}" })), {});
  await run(provider, { tools: [slow], settings: { maxSteps: 3, toolTimeoutMs: 5 } });
  await ended.promise;
  assertStringIncludes(toolMessages(provider)[0] ?? "", "slow took longer than 0.005 s");
});

Deno.test("a long result is cut with a note, never inside a character", async () => {
  const start = "x".repeat(49_999);
  const long = tool("long", () => `${start}😀efgh`);
  const provider = createScriptedProvider(calls(call({ name: "long", arguments: "{}" })), {});
  await run(provider, { tools: [long] });
  const [told = ""] = toolMessages(provider);
  assert(
    told.startsWith(`${start}\n\n(Cut here: the result has 50005 characters`),
    told.slice(-200),
  );
});

const ASK = { "x-agent-approve": "tools" };
const QUESTION = { role: "user", content: "What is 2+2, and 3+3?" };
const SUM = { id: "c1", name: "calculator", arguments: '{"expression":"2+2"}' };
const SECOND = { id: "c1", name: "calculator", arguments: '{"expression":"3+3"}' };

/** An OpenAI client that asks before tools run. */
function client(...steps: Step[]) {
  const provider = createScriptedProvider(...steps);
  const { post } = openAIRoutes(provider);
  const headers = { ...ASK, "x-agent-events": "tools" };
  const ask = async (messages: unknown[], more: Record<string, unknown> = {}) =>
    (await (await post("chat/completions", { messages, ...more }, headers)).json()).choices[0];
  return { provider, ask, post };
}

/** The calls and results that a model was shown. */
function stepsOf(messages: ChatMessage[] = []): unknown[] {
  return messages.flatMap((message) => {
    if (message.role === "tool") return [message.content];
    return message.role === "assistant"
      ? (message.toolCalls ?? []).map((call) => call.arguments)
      : [];
  });
}

const answerTo = (message: { tool_calls: { id: string }[] }, ...contents: string[]) =>
  message.tool_calls.map(({ id }, index) => ({
    role: "tool",
    tool_call_id: id,
    content: contents[index],
  }));

Deno.test("a call of the agent's tool ends the run until the caller approves it", async () => {
  const { provider, ask } = client(
    { content: "Let me see.", toolCalls: [SUM], finishReason: "stop" },
    { content: "It is 4." },
  );
  const waiting = await ask([QUESTION]);
  assertEquals([waiting.finish_reason, waiting.message.content], ["tool_calls", "Let me see."]);
  assertEquals(waiting.message.tool_events, []);
  const [call] = waiting.message.tool_calls;
  assertEquals(call.function, { name: "calculator", arguments: SUM.arguments });

  const { message } = await ask([
    QUESTION,
    waiting.message,
    ...answerTo(waiting.message, "approved"),
  ]);
  assertEquals(message.content, "It is 4.");
  assertEquals(stepsOf(provider.requests.at(-1)?.messages), [SUM.arguments, "4"]);
  // The caller knows the call by the id that it got.
  assertEquals(message.tool_events.map(({ id }: { id: string }) => id), [call.id, call.id]);
  assertEquals(message.tool_events.at(-1).content, "4");
});

Deno.test("a refused call does not run, and the model is told so, with the reason", async () => {
  for (const [content, told] of [["refused", ""], ["Refused: too costly", ": too costly"]]) {
    const { provider, ask } = client({ toolCalls: [SUM] }, { content: "Then not." });
    const { message } = await ask([QUESTION]);
    const answer = await ask([QUESTION, message, ...answerTo(message, content!)]);
    assertEquals([answer.message.content, answer.message.tool_events], ["Then not.", []]);
    assertEquals(stepsOf(provider.requests.at(-1)?.messages), [
      SUM.arguments,
      `Error: the user refused this call, and it was not run${told}`,
    ]);
  }
});

Deno.test("of several calls each has its own answer", async () => {
  const { provider, ask } = client(
    { toolCalls: [SUM, { ...SECOND, id: "c2" }] },
    { content: "Done." },
  );
  const { message } = await ask([QUESTION]);
  await ask([QUESTION, message, ...answerTo(message, "refused", "approved")]);
  const [first, second, ...results] = stepsOf(provider.requests.at(-1)?.messages);
  assertEquals([first, second], [SUM.arguments, SECOND.arguments]);
  assertEquals(results.length, 2);
  assertStringIncludes(String(results[0]), "refused");
  assertEquals(results[1], "6");
});

Deno.test("a run that waits twice keeps the result of its first call", async () => {
  const { provider, ask } = client(
    { toolCalls: [SUM] },
    { toolCalls: [SECOND] },
    { content: "4 and 6." },
  );
  const first = (await ask([QUESTION])).message;
  const begun = [QUESTION, first, ...answerTo(first, "approved")];
  const second = (await ask(begun)).message;
  assertEquals(second.tool_events.at(-1).content, "4");
  const { message } = await ask([...begun, second, ...answerTo(second, "approved")]);
  assertEquals(message.content, "4 and 6.");
  const steps = [SUM.arguments, "4", SECOND.arguments, "6"];
  assertEquals(stepsOf(provider.requests.at(-1)?.messages), steps);
});

Deno.test("an approval needs nothing that the service has kept", async () => {
  const call = { id: "call_of_another_process", type: "function" };
  const asked = (id: string, { name, arguments: text }: typeof SUM) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ ...call, id, function: { name, arguments: text } }],
  });
  const messages = [
    QUESTION,
    asked("a", SUM),
    { role: "tool", tool_call_id: "a", content: "approved" },
    asked("b", SECOND),
    { role: "tool", tool_call_id: "b", content: "approved" },
  ];
  const { provider, ask } = client({ content: "Done." });
  await ask(messages);
  const lost = "(The call was approved and has run. Its result is no longer known.)";
  const steps = [SUM.arguments, lost, SECOND.arguments, "6"];
  assertEquals(stepsOf(provider.requests.at(-1)?.messages), steps);
});

Deno.test("without the header, and for any other text, a tool message is the tool's result", async () => {
  const { provider, ask, post } = client({ toolCalls: [SUM] }, { content: "Done." });
  const { message } = await ask([QUESTION]);
  await ask([QUESTION, message, ...answerTo(message, "approved by the board")]);
  assertEquals(stepsOf(provider.requests.at(-1)?.messages).at(-1), "approved by the board");
  await post("chat/completions", {
    messages: [QUESTION, message, ...answerTo(message, "approved")],
  });
  assertEquals(stepsOf(provider.requests.at(-1)?.messages).at(-1), "approved");
});

Deno.test("a caller's own tool beside an agent's: both wait in one answer", async () => {
  const tools = [{ type: "function", function: { name: "get_weather" } }];
  const weather = { id: "c2", name: "get_weather", arguments: "{}" };
  const { provider, ask } = client({ toolCalls: [SUM, weather] }, { content: "Done." });
  const { message } = await ask([QUESTION], { tools });
  assertEquals(message.tool_calls.length, 2);
  await ask([QUESTION, message, ...answerTo(message, "approved", "approved")], { tools });
  const results = stepsOf(provider.requests.at(-1)?.messages).slice(2);
  assertEquals(results.toSorted(), ["4", "approved"]);
});

Deno.test("streams announce the calls that wait, and what an approved one did", async () => {
  const { post, ask } = client({ toolCalls: [SUM] }, { content: "It is 4." });
  const { message } = await ask([QUESTION]);
  const provider = client({ toolCalls: [SUM] });
  const streamed = await provider.post(
    "chat/completions",
    { messages: [QUESTION], stream: true },
    ASK,
  );
  const chunks = await readChunks(streamed);
  const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assertEquals(pieces.map((piece) => piece.function.arguments).join(""), SUM.arguments);
  assertEquals(chunks.at(-1).choices[0].finish_reason, "tool_calls");
  const continued = await post(
    "chat/completions",
    { messages: [QUESTION, message, ...answerTo(message, "approved")], stream: true },
    { ...ASK, "x-agent-events": "tools" },
  );
  const events = (await readChunks(continued)).flatMap(({ choices }) =>
    choices[0]?.delta.tool_events ?? []
  );
  assertEquals(events.map(({ type, id }) => [type, id]), [
    ["tool_call", message.tool_calls[0].id],
    ["tool_result", message.tool_calls[0].id],
  ]);
});

Deno.test("a response waits with its calls as items", async () => {
  const waits = { content: null, toolCalls: [SUM] };
  const { provider, post } = client(waits, { content: "It is 4." });
  const { output: [call] } = await (await post("responses", { input: [QUESTION] }, ASK)).json();
  assertEquals([call.type, call.name], ["function_call", "calculator"]);
  const output = { type: "function_call_output", call_id: call.call_id, output: "approved" };
  await post("responses", { input: [QUESTION, call, output] }, ASK);
  assertEquals(stepsOf(provider.requests.at(-1)?.messages), [SUM.arguments, "4"]);
});

Deno.test("POST / waits with the calls in tool_calls, whole and streamed", async () => {
  for (const accept of ["application/json", "text/event-stream"]) {
    const provider = createScriptedProvider(
      { content: null, toolCalls: [SUM] },
      { content: "It is 4." },
    );
    const { service } = agentService(provider);
    const ask = (messages: unknown[]) =>
      service(agentRequestOf({ messages }, { headers: { ...ASK, accept } }));
    const response = await ask([{ type: "human", content: "2+2?" }]);
    const isStream = accept.startsWith("text");
    const events = isStream ? await Array.fromAsync(readEvents(response)) : [];
    assertEquals(events.map(({ event }) => event), isStream ? ["message", "done"] : []);
    const reply = isStream ? events[0]!.data : await response.json();
    const [call] = reply.tool_calls;
    assertEquals([call.name, call.args], ["calculator", { expression: "2+2" }]);
    assertMatch(call.id, /^call_/);
    assertEquals(reply.response_metadata.finish_reason, "tool_calls");
    const approval = { type: "tool", tool_call_id: call.id, content: "approved" };
    await (await ask([{ type: "human", content: "2+2?" }, reply, approval])).text();
    assertEquals(stepsOf(provider.requests.at(-1)?.messages), [SUM.arguments, "4"]);
  }
});

Deno.test("a header that says something else is refused: no tool must run unasked", async () => {
  const { provider, post } = client({ toolCalls: [SUM] });
  const headers = { "x-agent-approve": "all" };
  const response = await post("chat/completions", { messages: [QUESTION] }, headers);
  const { error } = await response.json();
  assertEquals([response.status, error.code], [400, "invalid_request"]);
  assertStringIncludes(error.message, '"tools"');
  assertEquals(provider.requests, []);
});
