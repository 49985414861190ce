import { assertEquals, assertThrows } from "@std/assert";
import {
  createConversation,
  DEFAULT_SETTINGS,
  shownTurns,
  withTurn,
} from "../../../agent/pages/conversation/conversation.ts";
import {
  FileProblem,
  parseConversations,
  toJsonFile,
  toMarkdownFile,
} from "../../../agent/pages/conversation/conversation_file.ts";

const conversation = withTurn(
  createConversation({ models: ["a/b", "c/d"], settings: DEFAULT_SETTINGS, now: 1 }),
  {
    id: "1",
    parent: null,
    text: "Hello",
    answers: [
      { model: "a/b", status: "done", parts: [{ type: "text", text: "Hi." }] },
      { model: "c/d", status: "cut", parts: [{ type: "reasoning", text: "Hm" }] },
    ],
    sentAt: 1,
    changedAt: 1,
  },
);

Deno.test("an exported conversation is imported whole, under an id of its own", () => {
  const [imported] = parseConversations(toJsonFile([conversation]));
  assertEquals(imported?.id === conversation.id, false);
  assertEquals({ ...imported, id: conversation.id }, conversation);
});

Deno.test("a file with anything else in its fields is read as what it should be", () => {
  const file = {
    format: "assay-conversations",
    conversations: [{
      turns: { a: { id: "a", text: 7, answers: [{ parts: [{ type: "x" }, 3] }] } },
      shown: { "": "a", b: 2 },
    }],
  };
  const [imported] = parseConversations(JSON.stringify(file));
  const [turn] = shownTurns(imported!);
  assertEquals([turn?.text, turn?.answers], ["", [{ model: "", status: "cut", parts: [] }]]);
  assertEquals(imported?.settings, DEFAULT_SETTINGS);
});

Deno.test("other files are refused", () => {
  for (const text of ["", "{", "[]", "{}", '{"format":"assay-conversations"}']) {
    assertThrows(() => parseConversations(text), FileProblem);
  }
});

Deno.test("the Markdown file has the shown messages and the text of each answer", () => {
  assertEquals(
    toMarkdownFile(conversation),
    "# Hello\n\n**You:**\n\nHello\n\n**a/b:**\n\nHi.\n\n**c/d:**\n\n\n",
  );
});
