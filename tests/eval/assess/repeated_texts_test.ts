import { assertEquals } from "@std/assert";
import { createMemo } from "../../../eval/assess/background/memo.ts";
import type { Embedder } from "../../../eval/assess/embeddings/embedder.ts";
import { assessor, BATCH } from "../../fakes/assessed_batch.ts";
import { interaction, providerError } from "../../fakes/eval_ports.ts";
import { fakeEmbedder, fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";

Deno.test("the references are encoded before the first reply is there", async () => {
  const { embedder, embedded } = fakeEmbedder();
  assessor(BATCH, { embedder });
  await new Promise((resolve) => setTimeout(resolve)); // one after the other, without waiting
  assertEquals(embedded, BATCH.map(({ reference_reply }) => reference_reply));
});

Deno.test("once replies come, only the references that they need are encoded", async () => {
  const { embedder, embedded } = fakeEmbedder();
  const batch = Array.from(
    { length: 100 },
    (_, i) => interaction(`${i}`, { reference_reply: `The parcel ${i} arrives on Thursday.` }),
  );
  const { assess } = assessor(batch, { embedder });
  for (const subject of batch) await assess(subject, subject.reference_reply!);
  assertEquals(embedded.length, 1); // the one that was on its way at the first reply
});

Deno.test("the references of a batch are embedded once, however many replies there are", async () => {
  const { embedder, embedded } = fakeEmbedder();
  const memo = createMemo((text) => embedder.embed(text), { capacity: 100 });
  const { assess } = assessor(BATCH, { embedder: { ...embedder, embed: memo } });
  for (let i = 0; i < 5; i++) await assess(BATCH[0]!, `We refund order ${i} to your card.`);
  assertEquals(embedded.filter((text) => text === BATCH[0]!.reference_reply).length, 1);
});

Deno.test("a reply that repeats is studied once, a long one too", async () => {
  for (const length of [20, 20_001]) {
    let compared = 0;
    const pairs = { ...scoringPorts().pairs };
    const { compare } = pairs;
    pairs.compare = (pair) => {
      compared++;
      return compare(pair);
    };
    const { assess } = assessor(BATCH, { pairs });
    const reply = "We refund it. ".repeat(2000).slice(0, length);
    await assess(BATCH[0]!, reply);
    await assess(BATCH[0]!, reply);
    assertEquals(compared, 1, `${length} characters`);
  }
});

Deno.test("a label that the judge could not give is asked for again when the reply repeats", async () => {
  let isDown = true;
  const { judge } = fakeJudge(({ name }) => {
    if (name !== "labels") return '{"reason": "fine", "grade": 5}';
    if (isDown) throw providerError(500);
    return '{"labels": {"intent": "refund"}, "confidence": 0.9}';
  });
  const { assess } = assessor(BATCH, { judge });
  const first = await assess(BATCH[0]!, "Here is your money.");
  assertEquals(first.missing_scores?.intent_match, "judge_unavailable");
  isDown = false;
  const again = await assess(BATCH[0]!, "Here is your money.");
  assertEquals([again.scores.intent_match, again.missing_scores], [1, undefined]);
});

Deno.test("a score that was missing is computed again when the reply repeats", async () => {
  const { embedder } = fakeEmbedder();
  let isDown = true;
  const embed: Embedder["embed"] = (text) =>
    isDown ? Promise.reject(new Error("no weights")) : embedder.embed(text);
  const { assess } = assessor(BATCH, { embedder: { ...embedder, embed } });
  const reply = "We refund it to your card.";
  const down = await assess(BATCH[0]!, reply);
  const reason = "no sentence vectors: no weights";
  assertEquals(
    [down.missing_scores?.semantic_similarity, down.missing_scores?.intent_match],
    [reason, reason],
  );
  isDown = false;
  assertEquals((await assess(BATCH[0]!, reply)).missing_scores, undefined);
});
