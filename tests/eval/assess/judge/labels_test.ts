import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { labelReply } from "../../../../eval/assess/judge/labels.ts";
import type { JudgeAnswer } from "../../../../eval/assess/judge/model.ts";
import { UnreadableAnswer } from "../../../../eval/assess/judge/structured.ts";
import { fakeJudge } from "../../../fakes/scoring_ports.ts";

const candidates = new Map([
  ["intent", new Map<string, unknown>([["refund", "Refund"], ["delivery", "Delivery"]])],
  ["priority", new Map<string, unknown>([["1", 1], ["2", 2]])],
]);

function label(answer: string | JudgeAnswer) {
  const { judge, asked } = fakeJudge(() => answer);
  const labelled = { userMessage: "When?", reply: "Your money is on its way.", candidates };
  const found = labelReply(labelled, { model: judge, signal: new AbortController().signal });
  return { found, asked };
}

Deno.test("one call derives all keys, among the labels of the batch, as it writes them", async () => {
  const answer = { labels: { intent: "refund", priority: "2" }, confidence: 0.9 };
  const { found, asked } = label(JSON.stringify(answer));
  assertEquals([...await found], [
    ["intent", { value: "Refund", method: "judge", confidence: 0.9 }],
    ["priority", { value: 2, method: "judge", confidence: 0.9 }],
  ]);
  assertEquals(asked.length, 1);
  assertStringIncludes(asked[0]!.messages[0]!.content, '"intent": one of "refund", "delivery"');
});

Deno.test("a key that the judge does not know has no value", async () => {
  const answer = { labels: { intent: "unknown", priority: "1" }, confidence: 0.5 };
  const found = await label(JSON.stringify(answer)).found;
  assertEquals(found.get("intent"), {
    value: undefined,
    method: "judge",
    confidence: null,
    reason: "the judge says that none of the labels fits",
  });
});

Deno.test("a label that is not among the candidates is refused", async () => {
  const answer = { labels: { intent: "hacked", priority: "1" }, confidence: 1 };
  await assertRejects(() => label(JSON.stringify(answer)).found, UnreadableAnswer);
});

Deno.test("labels without the nonce of the question are refused, and so are those cut off", async () => {
  const text = '{"labels": {"intent": "refund", "priority": "2"}, "confidence": 0.9}';
  for (const answer of [{ text, isCut: false }, text.slice(0, -1), text.replace("0.9", "0.9, ")]) {
    const { found, asked } = label(answer);
    await assertRejects(() => found, UnreadableAnswer);
    assertEquals(asked.length, 2);
  }
});
