import { assertEquals } from "@std/assert";
import type { CallerMessage } from "../../../agent/run/conversation.ts";
import { buildHistory as build, type HistoryOptions } from "../../../agent/run/history.ts";
import { ai, human, NO_REPAIRS } from "../../fakes/caller_messages.ts";

/** In the order that every provider takes. */
const buildHistory = (given: CallerMessage[], options: HistoryOptions = {}) =>
  build(given, { isStrict: true, ...options });

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
