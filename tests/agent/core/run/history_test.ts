import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "seeded-fast-check";
import type { CallerMessage } from "../../../../agent/core/run/caller_messages.ts";
import { buildHistory as build, type HistoryOptions } from "../../../../agent/core/run/history.ts";
import { AppError } from "../../../../shared/service/errors.ts";
import { textOf } from "../../../../shared/providers/content.ts";
import type { ChatMessage } from "../../../../shared/providers/provider.ts";
import { ai, human, NO_REPAIRS, tool } from "../../../fakes/caller_messages.ts";
import { findViolations } from "../../../fakes/strict_provider.ts";

/** In the order that every provider takes. */
const buildHistory = (given: CallerMessage[], options: HistoryOptions = {}) =>
  build(given, { isStrict: true, ...options });

function shape(messages: ChatMessage[]): string {
  return messages.map((message) =>
    message.role === "assistant" && message.toolCalls ? "call" : message.role
  ).join(" ");
}

Deno.test("a plain conversation is passed on unchanged, after the system prompt", () => {
  const { messages, repairs } = buildHistory([human("Hi"), ai("Hello"), human("Bye")], {
    systemPrompt: "Be kind.",
  });
  assertEquals(messages, [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "Bye" },
  ]);
  assertEquals(repairs, NO_REPAIRS);
});

Deno.test("a tool message without an id is paired before it is sent", () => {
  const { messages, repairs } = buildHistory([human("Time?"), tool("12:00", "clock")]);
  assertEquals(messages, [
    { role: "user", content: "Time?" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "call00001", name: "clock", arguments: "{}" }],
    },
    { role: "tool", content: "12:00", toolCallId: "call00001" },
  ]);
  assertEquals(repairs, { ...NO_REPAIRS, paired: 1 });
});

Deno.test("an assistant message right before a tool message gets the call", () => {
  const { messages } = buildHistory([human("Time?"), ai("I look."), tool("12:00", "clock")]);
  assertEquals(shape(messages), "user call tool");
  assertEquals(messages[1]?.content, "I look.");
});

Deno.test("several tool messages in a row become several pairs", () => {
  const { messages, repairs } = buildHistory([human("?"), tool("a"), tool("b"), ai("done")]);
  assertEquals(shape(messages), "user call tool call tool assistant");
  assertEquals(repairs, { ...NO_REPAIRS, paired: 2 });
});

Deno.test("an assistant message is added between a tool message and a user message", () => {
  const { messages, repairs } = buildHistory([human("?"), tool("a"), human("and?")]);
  assertEquals(shape(messages), "user call tool assistant user");
  assertEquals(repairs, { ...NO_REPAIRS, paired: 1, bridged: 1 });
});

Deno.test("blank messages are left out, and the messages around them are merged", () => {
  const { messages, repairs } = buildHistory([human("a"), ai(" \n"), human("b"), human("")]);
  assertEquals(messages, [{ role: "user", content: "a\n\nb" }]);
  assertEquals(repairs, { ...NO_REPAIRS, merged: 1, dropped: 2 });
});

Deno.test("a blank tool result becomes a note, because providers refuse empty content", () => {
  const { messages, repairs } = buildHistory([human("a"), tool("")]);
  assert(textOf(messages.at(-1)!.content).trim());
  assertEquals(repairs, { ...NO_REPAIRS, paired: 1, filled: 1 });
});

Deno.test("a conversation that begins with ai or tool gets a user message in front", () => {
  for (const first of [ai("Welcome"), tool("result")]) {
    const { messages, repairs } = buildHistory([first, human("Hi")]);
    assertEquals(messages[0]?.role, "user");
    assertEquals(repairs.opened, 1);
    assert(messages.some((message) => message.content === first.content));
  }
});

Deno.test("the name of a tool becomes a valid function name", () => {
  const cases: [string | undefined, string][] = [
    [undefined, "tool"],
    ["", "tool"],
    ["   ", "tool"],
    ["get_weather", "get_weather"],
    ["get weather!", "get_weather_"],
    ["天气", "tool"],
    ["x".repeat(80), "x".repeat(64)],
  ];
  for (const [given, expected] of cases) {
    const { messages } = buildHistory([human("?"), tool("r", given)]);
    const [, caller] = messages;
    assertEquals(caller?.role === "assistant" && caller.toolCalls?.[0]?.name, expected);
  }
});

Deno.test("a conversation of blank messages is refused, and the error names the field", () => {
  for (const blank of [[], [human(" ")], [ai(""), tool("\n"), human("")]]) {
    const error = assertThrows(() => buildHistory(blank), AppError);
    assertEquals([error.status, error.code], [400, "invalid_request"]);
    assertEquals(error.errors?.[0]?.path, "messages");
  }
});

Deno.test("the caller's system prompt is a request by itself, the service's own is not", () => {
  const { messages, repairs } = buildHistory([], { systemPrompt: "Tell a joke." });
  assertEquals(shape(messages), "system user");
  assertEquals(repairs, { ...NO_REPAIRS, opened: 1 });
  assertEquals(findViolations(messages), []);
  for (const options of [{ defaultPrompt: "Be." }, { systemPrompt: " " }]) {
    assertThrows(() => buildHistory([], options), AppError);
  }
});

Deno.test("a cut keeps the latest messages and drops an answer whose question is gone", () => {
  const conversation = [human("1"), ai("2"), human("3"), tool("4"), ai("5"), human("6")];
  const cases: [number, string[], number][] = [
    [6, ["1", "2", "3", "4", "5", "6"], 0],
    [5, ["3", "4", "5", "6"], 2],
    [4, ["3", "4", "5", "6"], 2],
    [2, ["6"], 5],
    [1, ["6"], 5],
  ];
  for (const [maxMessages, kept, cut] of cases) {
    const { messages, repairs } = buildHistory(conversation, { maxMessages });
    const said = messages.map((message) => textOf(message.content)).filter((text) =>
      /^\d$/.test(text)
    );
    assertEquals(said, kept, `maxMessages ${maxMessages}`);
    assertEquals(repairs.cut, cut);
    assertEquals(findViolations(messages), []);
  }
});

Deno.test("a cut within the work on a question keeps the question and the latest work", () => {
  const work = ["a", "b", "c", "d"].map((result) => tool(result));
  const conversation = [human("old"), ai("x"), human("question"), ...work, ai("42"), human("why?")];
  const { messages, repairs } = buildHistory(conversation, { maxMessages: 5 });
  const said = messages.map(({ content }) => textOf(content)).filter(Boolean);
  assertEquals(said, ["question", "c", "d", "42", "why?"]);
  assertEquals(repairs.cut, 4);
  assertEquals(findViolations(messages), []);
});

Deno.test("a cut that would leave only tool results keeps the latest question before them", () => {
  const conversation = [human("old"), ai("x"), human("question"), tool("a"), tool("b"), tool("c")];
  const { messages } = buildHistory(conversation, { maxMessages: 3 });
  assertEquals(shape(messages), "user call tool call tool");
  assertEquals(messages[0]?.content, "question");
  assertEquals(messages.at(-1)?.content, "c");
});

const SIGNED: CallerMessage = {
  role: "assistant",
  content: "",
  toolCalls: [
    { id: "function-call-1", name: "a", arguments: "{}", extra: { signature: "s" } },
    { id: "function-call-2", name: "b", arguments: "{}" },
  ],
  from: "google/gemini",
};
const answer = (toolCallId: string): CallerMessage => ({ role: "tool", content: "r", toolCallId });

Deno.test("a turn with fields of its provider keeps its calls together, with their ids", () => {
  const { messages, repairs } = buildHistory([
    human("?"),
    SIGNED,
    answer("function-call-2"),
    answer("function-call-1"),
    tool("of no call"),
  ]);
  assertEquals(shape(messages), "user call tool tool call tool");
  assertEquals(messages[1], SIGNED);
  assertEquals(repairs, { ...NO_REPAIRS, paired: 1 });
});

Deno.test("such a turn without all its results is sent as single calls, as any other is", () => {
  const [one, two] = [answer("function-call-1"), answer("function-call-2")];
  const cases: [CallerMessage[], string][] = [
    [[human("?"), SIGNED, one], "user call tool"],
    [[human("?"), SIGNED, one, one], "user call tool call tool"],
    [[human("?"), SIGNED, one, human("!"), two], "user call tool assistant user call tool"],
    [
      [human("?"), SIGNED, one, two, { ...SIGNED }, one, two],
      "user call tool tool call tool call tool",
    ],
  ];
  for (const [conversation, expected] of cases) {
    assertEquals(shape(buildHistory(conversation).messages), expected);
  }
});

Deno.test("a system message inside a conversation stays where it is", () => {
  const { messages } = buildHistory([
    { role: "system", content: "Be kind." },
    ai("Hello"),
    human("Hi"),
    { role: "system", content: "Be brief." },
    human("Bye"),
  ], { isStrict: false });
  assertEquals(shape(messages), "system assistant user system user");
});

Deno.test("a result answers the latest call of its id: some models use one id for every call", () => {
  const { messages } = buildHistory(["Oslo", "Bergen"].flatMap((city): CallerMessage[] => [
    human(`How is ${city}?`),
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "call_0", name: "weather", arguments: JSON.stringify({ city }) }],
    },
    { role: "tool", content: `rain in ${city}`, toolCallId: "call_0" },
  ]));
  const made = messages.flatMap((message) => message.role === "assistant" ? message.toolCalls : []);
  const cities = made.flatMap((call) => call ? [JSON.parse(call.arguments).city] : []);
  assertEquals(cities, ["Oslo", "Bergen"]);
});

Deno.test("a history that the protocol allows stays as it is, ids included", () => {
  const toolCalls = ["call_a", "call_b"].map((id) => ({ id, name: "weather", arguments: "{}" }));
  const conversation: CallerMessage[] = [
    human("a"),
    human("b"),
    { role: "assistant", content: "", toolCalls },
    { role: "tool", content: "sun", toolCallId: "call_b" },
    { role: "tool", content: "rain", toolCallId: "call_a" },
    human("and?"),
  ];
  assertEquals(build(conversation), {
    messages: conversation as ChatMessage[],
    repairs: NO_REPAIRS,
  });
});

Deno.test("a call without a result is left out, and counted", () => {
  const toolCalls = [{ id: "call_a", name: "weather", arguments: "{}" }];
  for (const content of ["", "Let me see."]) {
    const { messages, repairs } = build([
      human("a"),
      { role: "assistant", content, toolCalls },
      human("b"),
    ]);
    assertEquals(shape(messages), content ? "user assistant user" : "user user");
    assertEquals(repairs, { ...NO_REPAIRS, unanswered: 1 });
  }
});

const Content = fc.oneof(
  fc.constantFrom("", " ", "\n\t", "Hi", "ok"),
  fc.string({ unit: "grapheme" }),
);
const Message: fc.Arbitrary<CallerMessage> = fc.oneof(
  Content.map(human),
  Content.map(ai),
  fc.tuple(Content, fc.option(fc.string({ unit: "grapheme" }), { nil: undefined }))
    .map(([content, name]) => tool(content, name)),
);
const Conversation = fc.array(Message, { minLength: 1, maxLength: 40 })
  .filter((messages) => messages.some((message) => textOf(message.content).trim() !== ""));

Deno.test("any conversation becomes one that every strict provider accepts", () => {
  fc.assert(
    fc.property(Conversation, fc.boolean(), (conversation, hasPrompt) => {
      const { messages } = buildHistory(conversation, hasPrompt ? { systemPrompt: "Be." } : {});
      assertEquals(findViolations(messages), []);
    }),
    { numRuns: 500 },
  );
});

Deno.test("no text is lost, and its order and author are kept", () => {
  fc.assert(
    fc.property(Conversation, (conversation) => {
      const { messages } = buildHistory(conversation);
      let at = 0;
      let within = 0;
      for (
        const { role, content } of conversation.filter(({ content }) => textOf(content).trim())
      ) {
        for (;; at++, within = 0) {
          const message = messages[at];
          assert(message, `lost: ${JSON.stringify(content)}`);
          const found = message.role === role
            ? textOf(message.content).indexOf(textOf(content), within)
            : -1;
          if (found < 0) continue;
          within = found + textOf(content).length;
          break;
        }
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("any cut of any conversation is accepted, respects its limit and is not empty", () => {
  fc.assert(
    fc.property(Conversation, fc.integer({ min: 1, max: 45 }), (conversation, maxMessages) => {
      const { messages, repairs } = buildHistory(conversation, { maxMessages });
      assertEquals(findViolations(messages), []);
      const spoken = conversation.length - repairs.dropped;
      assert(spoken - repairs.cut <= maxMessages);
      assert(spoken - repairs.cut > 0);
    }),
    { numRuns: 500 },
  );
});

Deno.test("equal conversations get equal histories", () => {
  fc.assert(fc.property(Conversation, (conversation) => {
    assertEquals(buildHistory(conversation), buildHistory(structuredClone(conversation)));
  }));
});

Deno.test("consecutive messages of one author are joined with a blank line", () => {
  const { messages, repairs } = buildHistory([human("a"), human("b"), ai("c"), ai("d"), ai("e")]);
  assertEquals(messages, [
    { role: "user", content: "a\n\nb" },
    { role: "assistant", content: "c\n\nd\n\ne" },
  ]);
  assertEquals(repairs, { ...NO_REPAIRS, merged: 3 });
});

type Named = Exclude<CallerMessage, { role: "tool" }>;
const by = (name: string, content: string, role: Named["role"] = "user"): Named => ({
  role,
  content,
  extra: { name },
});

Deno.test("messages of users with different names stay apart for models that take them so", () => {
  const conversation: Named[] = [
    by("bob", "Tea."),
    by("amy", "Coffee."),
    { role: "user", content: "Well?" },
  ];
  const { messages, repairs } = buildHistory(conversation, { isStrict: false });
  assertEquals(messages, conversation);
  assertEquals(repairs, NO_REPAIRS);
});

Deno.test("for other models they are joined, with the names in the text", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const { messages, repairs } = buildHistory([
    by("bob", "Tea."),
    by("amy", "Coffee."),
    human("Well?"),
    { role: "user", content: [image], extra: { name: "eve" } },
  ]);
  const text = "bob: Tea.\n\namy: Coffee.\n\nWell?";
  assertEquals(messages, [{
    role: "user",
    content: [{ type: "text", text }, { type: "text", text: "eve:" }, image],
  }]);
  assertEquals(repairs, { ...NO_REPAIRS, merged: 3 });
});

Deno.test("messages of one name are joined, and keep the fields that hold for both", () => {
  const marked = { ...by("bob", "B"), extra: { name: "bob", cache_control: {} } };
  const { messages } = buildHistory([by("bob", "A"), marked]);
  assertEquals(messages, [{ role: "user", content: "A\n\nB", extra: { name: "bob" } }]);
});

Deno.test("the names of assistants and of system messages are kept, too", () => {
  const conversation = [
    by("host", "Be kind.", "system"),
    by("ann", "?"),
    by("bot", "A", "assistant"),
    by("critic", "B", "assistant"),
  ];
  const sent = (options: HistoryOptions) =>
    buildHistory(conversation, options).messages.map((
      { content, extra },
    ) => [content, extra?.name]);
  assertEquals(sent({ isStrict: false }), [
    ["Be kind.", "host"],
    ["?", "ann"],
    ["A", "bot"],
    ["B", "critic"],
  ]);
  assertEquals(sent({}), [
    ["host: Be kind.", undefined],
    ["?", "ann"],
    ["bot: A\n\ncritic: B", undefined],
  ]);
});

Deno.test("messages with images are joined part by part, and are not blank", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const { messages } = buildHistory([human("Look:"), { role: "user", content: [image] }]);
  assertEquals(messages, [{ role: "user", content: [{ type: "text", text: "Look:" }, image] }]);
});

Deno.test("a turn with signed calls keeps them when it is joined to the text before it", () => {
  const toolCalls = [{ id: "sig-1", name: "look", arguments: "{}", extra: { signature: "x" } }];
  const { messages } = buildHistory([
    human("Look it up."),
    ai("I will."),
    { role: "assistant", content: "", toolCalls },
    { role: "tool", content: "seen", toolCallId: "sig-1" },
  ]);
  assertEquals(messages.slice(1), [
    { role: "assistant", content: "I will.", toolCalls },
    { role: "tool", content: "seen", toolCallId: "sig-1" },
  ]);
});
