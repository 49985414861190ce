import { assert, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import type { CallerMessage } from "../../../agent/run/conversation.ts";
import { buildHistory as build, type HistoryOptions } from "../../../agent/run/history.ts";
import { textOf } from "../../../shared/providers/content.ts";
import { ai, human, tool } from "../../fakes/caller_messages.ts";
import { findViolations } from "../../fakes/strict_provider.ts";

/** In the order that every provider takes. */
const buildHistory = (given: CallerMessage[], options: HistoryOptions = {}) =>
  build(given, { isStrict: true, ...options });

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
