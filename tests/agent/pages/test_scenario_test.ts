import { assertEquals } from "@std/assert";
import {
  createConversation,
  DEFAULT_SETTINGS,
  withTurn,
} from "../../../agent/pages/conversation/conversation.ts";
import { describeRepairs } from "../../../agent/pages/repairs.ts";
import { draftTest, slugOf, toScenario } from "../../../agent/pages/save_test/test_scenario.ts";
import { Scenario } from "../../../eval/schemas/scenario.ts";

const said = (model: string, text: string) => ({
  model,
  status: "done" as const,
  parts: [{ type: "text" as const, text }],
});

const conversation = withTurn(
  createConversation({ models: ["a/b", "c/d"], settings: DEFAULT_SETTINGS }),
  {
    id: "1",
    parent: null,
    text: "Hello",
    answers: [said("a/b", "Hi."), said("c/d", "Good day.")],
    sentAt: 1,
    changedAt: 1,
  },
);

Deno.test("a conversation becomes a scenario with one model's replies as references", () => {
  const scenario = Scenario.parse(toScenario(draftTest(conversation, 1)));
  assertEquals(scenario.id, "hello");
  assertEquals(scenario.interactions[0]?.user_message, "Hello");
  assertEquals(scenario.interactions[0]?.reference_reply, "Good day.");
});

Deno.test("a turn that is left out is not in the scenario, and an empty reference is none", () => {
  const draft = draftTest(conversation, 0);
  const without = {
    ...draft,
    turns: draft.turns.map((turn) => ({ ...turn, referenceReply: " " })),
  };
  assertEquals("reference_reply" in toScenario(without).interactions[0]!, false);
  const none = { ...draft, turns: draft.turns.map((turn) => ({ ...turn, isIncluded: false })) };
  assertEquals(toScenario(none).interactions, []);
});

Deno.test("the system prompt and the tool calls of a conversation are part of its test", () => {
  const called = withTurn(
    createConversation({
      models: ["a/b"],
      settings: { ...DEFAULT_SETTINGS, systemPrompt: "Be short." },
    }),
    {
      id: "1",
      parent: null,
      text: "What time is it?",
      answers: [{
        model: "a/b",
        status: "done",
        parts: [
          { type: "tool", id: "t", name: "current_time", args: { zone: "UTC" } },
          { type: "text", text: "Noon." },
        ],
      }],
      sentAt: 1,
      changedAt: 1,
    },
  );
  const draft = draftTest(called, 0);
  const scenario = Scenario.parse(toScenario(draft));
  assertEquals(scenario.system_prompt, "Be short.");
  assertEquals(scenario.interactions[0]?.reference_tools, [
    { name: "current_time", args: { zone: "UTC" } },
  ]);
  const without = {
    ...draft,
    systemPrompt: "",
    turns: draft.turns.map((turn) => ({ ...turn, expectsTools: false })),
  };
  const plain = toScenario(without);
  assertEquals(["system_prompt" in plain, "reference_tools" in plain.interactions[0]!], [
    false,
    false,
  ]);
});

Deno.test("ids of tests are names of files too", () => {
  assertEquals(slugOf("What are your Opening Hours?"), "what-are-your-opening-hours");
  assertEquals(slugOf("../../etc/passwd"), "etc-passwd");
  assertEquals(slugOf("今天 天气"), "今天-天气");
  assertEquals(slugOf("???"), "conversation");
});

Deno.test("repairs of the history are said in words, and unknown ones as they are", () => {
  assertEquals(
    describeRepairs("merged=2, cut=1"),
    "The conversation was repaired for the model: 2 messages were joined with the one before; " +
      "the oldest 1 message was left out.",
  );
  assertEquals(describeRepairs("new=1"), "The conversation was repaired for the model: new=1.");
});
