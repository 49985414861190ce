import { assertEquals } from "@std/assert";
import {
  type Answer,
  answerText,
  branchesOf,
  createConversation,
  DEFAULT_SETTINGS,
  mergeConversations,
  shownTurns,
  titleOf,
  type Turn,
  withAnswer,
  withCutAnswers,
  withShown,
  withTurn,
} from "../../../agent/pages/conversation/conversation.ts";

const empty = () => createConversation({ models: ["a/b"], settings: DEFAULT_SETTINGS, now: 1 });

const answerOf = (text: string, status: Answer["status"] = "done"): Answer => ({
  model: "a/b",
  status,
  parts: [{ type: "text", text }],
});

const turnOf = (id: string, parent: string | null, at = 1): Turn => ({
  id,
  parent,
  text: `text of ${id}`,
  answers: [answerOf(`reply to ${id}`)],
  sentAt: at,
  changedAt: at,
});

Deno.test("an edited message is a branch beside the old one, with its own turns after it", () => {
  const first = [turnOf("1", null), turnOf("2", "1")].reduce(withTurn, empty());
  const edited = withTurn(first, turnOf("1b", null, 2));
  assertEquals(shownTurns(edited).map(({ id }) => id), ["1b"]);
  assertEquals(branchesOf(edited, edited.turns["1"]!).map(({ id }) => id), ["1", "1b"]);
  const back = withShown(edited, edited.turns["1"]!);
  assertEquals(shownTurns(back).map(({ id }) => id), ["1", "2"]);
});

Deno.test("turns that lead to themselves end", () => {
  const circle = { ...empty(), turns: { a: turnOf("a", "a") }, shown: { "": "a", a: "a" } };
  assertEquals(shownTurns(circle).length, 1);
});

Deno.test("the title is the person's, else the first line of the first message, shortened", () => {
  assertEquals(titleOf(empty()), "New conversation");
  const long = withTurn(empty(), { ...turnOf("1", null), text: `${"x".repeat(80)}\nsecond line` });
  assertEquals(titleOf(long), `${"x".repeat(59)}…`);
  assertEquals(titleOf({ ...long, title: "Mine" }), "Mine");
});

Deno.test("answers that were under way when the page was closed are cut, others stay", () => {
  const conversation = withTurn(empty(), {
    ...turnOf("1", null),
    answers: [answerOf("half", "streaming"), answerOf("whole")],
  });
  const statuses = withCutAnswers(conversation).turns["1"]!.answers.map(({ status }) => status);
  assertEquals(statuses, ["cut", "done"]);
});

Deno.test("what two tabs have added to a conversation is kept, and of one turn the newer state", () => {
  const common = withTurn(empty(), turnOf("1", null));
  const mine = withTurn(common, turnOf("mine", "1", 2));
  const theirs = withAnswer(withTurn(common, turnOf("theirs", "1", 3)), {
    turnId: "1",
    column: 0,
    answer: answerOf("newer"),
    now: 9,
  });
  const merged = mergeConversations(theirs, mine);
  assertEquals(Object.keys(merged.turns).toSorted(), ["1", "mine", "theirs"]);
  assertEquals(merged.turns["1"]!.answers[0], answerOf("newer"));
});

Deno.test("the texts before and after a tool call are not joined to one word", () => {
  const call = { type: "tool", id: "1", name: "calculator", args: {} } as const;
  const { parts: [before] } = answerOf("Let me calculate.");
  const { parts: [after] } = answerOf("It is 42.");
  const answer = (...parts: Answer["parts"]): Answer => ({ model: "a/b", status: "done", parts });
  assertEquals(answerText(answer(before!, call, call, after!)), "Let me calculate.\n\nIt is 42.");
  assertEquals(answerText(answer(call, after!)), "It is 42.");
  const thought = { type: "reasoning", text: "Hm." } as const;
  assertEquals(answerText(answer(before!, thought, after!)), "Let me calculate.It is 42.");
});
