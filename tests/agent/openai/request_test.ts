import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { buildHistory } from "../../../agent/run/history.ts";
import { toConversation } from "../../../agent/openai/request.ts";
import { CompletionRequest } from "../../../agent/schemas/chat_completion.ts";
import { findViolations } from "../../fakes/strict_provider.ts";

const Text = fc.oneof(
  fc.constantFrom("", " ", "Hi"),
  fc.string({ unit: "grapheme" }),
);
const Content = fc.oneof(
  Text,
  fc.array(Text.map((text) => ({ type: "text", text })), { maxLength: 3 }),
);
const Id = fc.constantFrom("a", "b", "c");
const Call = fc.record({
  id: Id,
  type: fc.constant("function"),
  function: fc.record({ name: Text, arguments: fc.oneof(fc.constant('{"x":1}'), Text) }),
});
const Message = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "developer", "user"), content: Content }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.option(Content),
    tool_calls: fc.option(fc.array(Call, { maxLength: 3 })),
  }),
  fc.record({ role: fc.constant("tool"), tool_call_id: Id, content: Content }),
  fc.record({ role: fc.constant("function"), name: Id, content: Content }),
);

Deno.test("any OpenAI conversation becomes one that every strict provider accepts", () => {
  fc.assert(
    fc.property(fc.array(Message, { maxLength: 40 }), (messages) => {
      const body = CompletionRequest.parse({
        model: "a/b",
        messages: [...messages, { role: "user", content: "And?" }],
      });
      const conversation = toConversation(body);
      const { messages: history } = buildHistory(conversation.messages, {
        systemPrompt: conversation.systemPrompt ?? "Be.",
        isStrict: true,
      });
      assertEquals(findViolations(history), []);
    }),
    { numRuns: 500 },
  );
});

Deno.test("a blank description of a caller's tool is left out, because Bedrock refuses it", () => {
  const functions = [
    { name: "a" },
    { name: "b", description: " ", parameters: null },
    { name: "c", description: null },
    { name: "d", description: "D", strict: true },
  ];
  const { callerTools } = toConversation(CompletionRequest.parse({
    model: "a/b",
    messages: [{ role: "user", content: "Hi" }],
    tools: functions.map((definition) => ({ type: "function", function: definition })),
  }));
  const parameters = { type: "object", properties: {} };
  assertEquals<unknown>(callerTools, [
    { name: "a", parameters },
    { name: "b", parameters },
    { name: "c", parameters },
    { name: "d", description: "D", strict: true, parameters },
  ]);
});
