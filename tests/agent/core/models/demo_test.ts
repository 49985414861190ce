import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { isAbort } from "../../../../shared/service/errors.ts";
import { createDemoProvider } from "../../../../agent/core/models/demo.ts";
import { DEMO_MODEL, DEMO_STUDIO } from "../../../../agent/core/models/choice.ts";
import {
  type ChatMessage,
  ProviderError,
  routeModel,
} from "../../../../shared/providers/provider.ts";

const demo = createDemoProvider();
const TOOLS = ["current_time", "calculator"].map((name) => ({
  name,
  description: name,
  parameters: { type: "object" },
}));

/** A conversation of user and assistant in turns; the last is the user's. */
function talk(...texts: string[]): ChatMessage[] {
  const last = texts.length - 1;
  return texts.map((content, turn) =>
    (last - turn) % 2 === 0 ? { role: "user", content } : { role: "assistant", content }
  );
}

async function ask(messages: ChatMessage[], { model = DEMO_MODEL, tools = TOOLS } = {}) {
  return await demo.complete({ model, messages, tools });
}

/** The conversation after the tools of the first answer have returned `contents`. */
async function afterTools(said: string, contents: string[], model = DEMO_MODEL) {
  const messages = talk(said);
  const { toolCalls } = await ask(messages, { model });
  return await ask([
    ...messages,
    { role: "assistant", content: "", toolCalls },
    ...contents.map((content, index): ChatMessage => ({
      role: "tool",
      content,
      toolCallId: toolCalls[index]!.id,
    })),
  ], { model });
}

const TIMES: [said: string, zone: string][] = [
  ["What time is it?", "UTC"],
  ["what's the date today", "UTC"],
  ["Which day is it?", "UTC"],
  ["what time is it in Tokyo?", "Asia/Tokyo"],
  ["Do you know what time it is in new york right now?", "America/New_York"],
  ["What is the current time in Europe/Berlin?", "Europe/Berlin"],
  ["what time is it in America/Argentina/Ushuaia", "America/Argentina/Ushuaia"],
  ["time in UTC", "UTC"],
  ["What time is it in San Francisco?", "America/Los_Angeles"],
  ["What time is it in Atlantis?", "Atlantis"],
];
for (const [said, time_zone] of TIMES) {
  Deno.test(`“${said}” calls current_time for ${time_zone}`, async () => {
    const { content, toolCalls, finishReason } = await ask(talk(said));
    assertEquals(toolCalls.map((call) => [call.name, JSON.parse(call.arguments)]), [
      ["current_time", { time_zone }],
    ]);
    assertEquals([content, finishReason], [null, "tool_calls"]);
  });
}

const SUMS: [said: string, expression: string][] = [
  ["what is 12 * (3+4)?", "12 * (3+4)"],
  ["17% of 240", "17% of 240"],
  ["What's 17% of 240?", "17% of 240"],
  ["sqrt(2)", "sqrt(2)"],
  ["What is the square root of 2?", "sqrt(2)"],
  ["Please calculate 2^10.", "2^10"],
  ["how much is 1,250 plus 3.5 times 2?", "1250 + 3.5 * 2"],
  ["-3 + 5 =", "-3 + 5"],
  ["What is (1 + 2) / 3?", "(1 + 2) / 3"],
  ["6 x 7", "6 * 7"],
];
for (const [said, expression] of SUMS) {
  Deno.test(`“${said}” calls calculator for ${expression}`, async () => {
    const { toolCalls } = await ask(talk(said));
    assertEquals(toolCalls.map((call) => [call.name, JSON.parse(call.arguments)]), [
      ["calculator", { expression }],
    ]);
  });
}

for (
  const said of ["Hello", "I was born on 2001-02-03", "Call 555-1234", "I have 3 cats", "one day"]
) {
  Deno.test(`“${said}” needs no tool`, async () => {
    assertEquals((await ask(talk(said))).toolCalls, []);
  });
}

Deno.test("one message may need two tools, and the reply contains both results", async () => {
  const said = "What time is it in Tokyo, and what is 2 + 2?";
  const { toolCalls } = await ask(talk(said));
  assertEquals(toolCalls.map(({ name }) => name), ["current_time", "calculator"]);
  const { content, finishReason } = await afterTools(said, ["noon", "4"]);
  assertEquals([content, finishReason], ["It is now noon. 2 + 2 is 4.", "stop"]);
});

Deno.test("the reply quotes the error of a failed tool", async () => {
  const { content, toolCalls } = await afterTools("What is 1/0?", ["cannot divide by zero"]);
  assertMatch(content ?? "", /sorry.+calculator.+cannot divide by zero/);
  assertEquals(toolCalls, []);
});

Deno.test("a tool that is not offered is not called", async () => {
  const { content, toolCalls } = await ask(talk("What is 2 + 2?"), { tools: [] });
  assertEquals(toolCalls, []);
  assertMatch(content ?? "", /calculator.+not offered/);
});

Deno.test("a tool that a message names is called, if it is offered", async () => {
  const parameters = { type: "object" };
  const tools = [{ name: "get_weather", description: "", parameters }];
  const ask = (content: string) =>
    demo.complete({ model: DEMO_MODEL, messages: [{ role: "user", content }], tools });
  const { toolCalls } = await ask("Please use get_weather for Oslo.");
  assertEquals(toolCalls.map(({ name, arguments: args }) => [name, args]), [["get_weather", "{}"]]);
  assertEquals((await ask("Use your head.")).toolCalls, []);
});

Deno.test("tool-call ids have nine letters or digits and are unique in the conversation", async () => {
  const taken = (await ask(talk("What is 2 + 2?"))).toolCalls;
  const { toolCalls } = await ask([
    ...talk("What is 2 + 2?"),
    { role: "assistant", content: "", toolCalls: [...taken, { ...taken[0]!, id: "demo00003" }] },
    { role: "tool", content: "4", toolCallId: taken[0]!.id },
    ...talk("It is 4.", "What time is it, and what is 3 * 3?"),
  ]);
  const ids = [...taken, ...toolCalls].map(({ id }) => id);
  assertEquals(new Set([...ids, "demo00003"]).size, 4);
  for (const id of ids) assertMatch(id, /^[a-z0-9]{9}$/i);
});

const TALKS: [texts: string[], expected: RegExp][] = [
  [["Hello!"], /^Hello!.*demo.*How can I help you today\?$/],
  [["Who are you?"], /demo/],
  [["Why is the sky blue?"], /Why is the sky blue\?.*demo/],
  [["I like trains"], /I like trains.*demo/],
  [["My name is Ada"], /Ada/],
  [["My name is Ada", "Hi", "What is my name?"], /^Your name is Ada\.$/],
  [["My name is Ada Lovelace.", "Hi", "who am I"], /Ada Lovelace/],
  [["My name is Ada", "Hi", "My name is Eve", "Hi", "Do you know my name?"], /Eve/],
  [["What is my name?"], /not told me/],
  [["I like trains", "Good", "What did I just say?"], /I like trains/],
  [["What was my last question?"], /first/],
  [["My name is Ada", "Hi", "hello again"], /^Hello, Ada!/],
  [["Thanks a lot"], /welcome/],
  [["Goodbye"], /^Goodbye/],
  [[" "], /demo/],
];
for (const [texts, expected] of TALKS) {
  Deno.test(`“${texts.join(" / ")}” is answered from the conversation`, async () => {
    const { content, finishReason } = await ask(talk(...texts));
    assertMatch(content ?? "", expected);
    assertEquals(finishReason, "stop");
  });
}

Deno.test("a long message is quoted in short, without splitting a character", async () => {
  const { content } = await ask(talk("🎈".repeat(100_000)));
  assertMatch(content ?? "", /^You said: “(🎈){119}…”/u);
});

Deno.test("the fine-tuned model gives shorter answers", async () => {
  for (const said of ["Hello", "I want a refund", "Who are you?", "I like trains", "Thanks"]) {
    const assistant = await ask(talk(said));
    const tuned = await ask(talk(said), { model: DEMO_STUDIO.id });
    assertNotEquals(tuned.content, assistant.content);
    assert(tuned.content!.length < assistant.content!.length, said);
    assertEquals(tuned.model, DEMO_STUDIO.id);
  }
  const { content } = await afterTools("What is 2 + 2?", ["4"], DEMO_STUDIO.id);
  assertEquals(content, "4.");
});

async function inFormat(response_format: unknown): Promise<unknown> {
  const extra = { response_format };
  const { content } = await demo.complete({
    model: DEMO_STUDIO.id,
    messages: talk("Thanks"),
    extra,
  });
  return JSON.parse(content!);
}

Deno.test("a request for JSON gets JSON that fits its schema", async () => {
  const $defs = { mood: { enum: ["calm", "angry"] } };
  const properties = {
    text: { type: "string" },
    mood: { $ref: "#/$defs/mood" },
    score: { type: ["integer", "null"], minimum: 3 },
    tags: { type: "array", items: { type: "string" }, minItems: 2 },
    next: { anyOf: [{ type: "null" }, { $ref: "#" }] },
    isOpen: { type: "boolean" },
  };
  const schema = { type: "object", properties, required: Object.keys(properties), $defs };
  const text = "You are welcome!";
  assertEquals(await inFormat({ type: "json_schema", json_schema: { name: "n", schema } }), {
    text,
    mood: "calm",
    score: 3,
    tags: [text, text],
    next: null,
    isOpen: false,
  });
  assertEquals(await inFormat({ type: "json_object" }), { answer: text });
});

Deno.test("a schema without an end has an end", async () => {
  const twice = { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" } } };
  for (const schema of [twice, { $ref: "#" }]) {
    const value = await inFormat({ type: "json_schema", json_schema: { name: "n", schema } });
    assert(JSON.stringify(value).length < 5_000);
  }
});

Deno.test("the same request has exactly the same reply", async () => {
  const reply = await ask(talk("Hello"));
  assertEquals(
    await createDemoProvider().complete({
      model: DEMO_MODEL,
      messages: talk("Hello"),
      tools: TOOLS,
    }),
    reply,
  );
  assertEquals([reply.model, reply.systemFingerprint], [DEMO_MODEL, "fp_demo"]);
  const { promptTokens, completionTokens, totalTokens } = reply.usage!;
  assert(promptTokens > 0 && completionTokens > 0);
  assertEquals(totalTokens, promptTokens + completionTokens);
});

Deno.test("a stream sends the reply word by word, then as a whole", async () => {
  const request = { model: DEMO_MODEL, messages: talk("Hello") };
  const deltas = await Array.fromAsync(demo.stream(request));
  const last = deltas.pop();
  assert(last?.type === "reply");
  assertEquals(last.reply, await demo.complete(request));
  const words = deltas.map((delta) => delta.type === "text" ? delta.text : "");
  assertEquals(words.slice(0, 3), ["Hello!", " I", " am"]);
  assertEquals(words.join(""), last.reply.content);
});

Deno.test("both models are listed and are routed to the right target", async () => {
  const models = await demo.listModels();
  assertEquals(models.map(({ id }) => routeModel(id).target), ["hub", "studio"]);
  assertMatch(
    DEMO_STUDIO.id,
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  assertEquals(
    (await ask(talk("Hi"), { model: DEMO_STUDIO.id.toUpperCase() })).finishReason,
    "stop",
  );
});

Deno.test("the error for an unknown model names the two known ones", async () => {
  for (const model of ["openai/gpt-4o", crypto.randomUUID()]) {
    const error = await assertRejects(() => ask(talk("Hi"), { model }), ProviderError);
    assertEquals([error.status, error.code], [404, "model_not_found"]);
    for (const part of [model, DEMO_MODEL, DEMO_STUDIO.id, "HUB_BASE_URL", "STUDIO_BASE_URL"]) {
      assert(error.message.includes(part), error.message);
    }
  }
});

Deno.test("a caller that leaves ends a completion and a stream", async () => {
  const request = { model: DEMO_MODEL, messages: talk("Hello") };
  const gone = { signal: AbortSignal.abort() };
  assert(isAbort(await assertRejects(() => demo.complete(request, gone))));
  assert(isAbort(await assertRejects(() => Array.fromAsync(demo.stream(request, gone)))));

  const caller = new AbortController();
  const words: string[] = [];
  const error = await assertRejects(async () => {
    for await (const delta of demo.stream(request, { signal: caller.signal })) {
      words.push(delta.type);
      caller.abort();
    }
  });
  assert(isAbort(error));
  assertEquals(words, ["text"]);
});
