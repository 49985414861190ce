import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { createBatchSemantics } from "../../../eval/batch_semantics.ts";
import type { Embedder } from "../../../eval/embeddings/embedder.ts";
import { createFewShotAnnotator, THRESHOLDS } from "../../../eval/metadata/few_shot.ts";
import { createLabelIndex } from "../../../eval/metadata/label_index.ts";
import type { Interaction } from "../../../shared/schemas/evaluate.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { fakeDetector, fakeEmbedder } from "../../fakes/scoring_ports.ts";

const turn = (label: unknown, reference_reply: string) =>
  interaction(reference_reply, { reference_reply, reference_metadata: { topic: label } });

function setUp(turns: Interaction[], more: Partial<Embedder> = {}) {
  const batch = [scenario("s", turns)];
  const { embedder } = fakeEmbedder(more);
  return {
    scenarios: batch,
    semantics: createBatchSemantics(batch, { embedder, detector: fakeDetector }),
  };
}

function read(turns: Interaction[], text: string, more: Partial<Embedder> = {}) {
  const { scenarios, semantics } = setUp(turns, more);
  return createFewShotAnnotator(scenarios, semantics)
    .annotate("topic", { text, interaction: interaction("other") });
}

const TURNS = [
  turn("money", "the refund reaches the card"),
  turn("money", "a refund takes days"),
  turn("parcel", "the parcel arrives soon"),
];

Deno.test("a label's score is the documented sum", async () => {
  const { scenarios, semantics } = setUp([turn("cash desk", "a b"), turn("cash desk", "c d")]);
  const index = await createLabelIndex("topic", { scenarios, semantics });
  const { kind, scores } = await index.score({ text: "a b", interaction: interaction("other") });
  // Vectors of words: nearest 1, with the sum of both examples 1/√2; nothing of the label's words.
  const vectors = (1 + Math.SQRT1_2) / 2;
  assertEquals(kind, "vectors");
  const rest = scores[0]!.score - vectors;
  assert(rest > 0 && rest <= 0.5, `TF-IDF adds ${rest}, at most half`);
});

Deno.test("the label's own words count 0.3", async () => {
  const { scenarios, semantics } = setUp([turn("cash_desk", ""), turn("cash_desk", "")]);
  const index = await createLabelIndex("topic", { scenarios, semantics });
  const { scores } = await index.score({ text: "cash desk", interaction: interaction("other") });
  assertAlmostEquals(scores[0]!.score, 0.3, 1e-6);
});

Deno.test("the nearest label is given, with the share it has over the others", async () => {
  const { value, method, confidence } = await read(TURNS, "the refund takes days");
  assertEquals([value, method], ["money", "few_shot"]);
  assert(confidence! > 0.5 && confidence! <= 1);
});

Deno.test("a label keeps its type", async () => {
  const turns = [turn(1, "the refund"), turn(2, "the parcel arrives")];
  assertEquals((await read(turns, "the parcel arrives")).value, 2);
});

Deno.test("below the threshold there is no label", async () => {
  assertEquals((await read(TURNS, "bananas grow slowly")).value, undefined);
  assertEquals(THRESHOLDS, { vectors: 0.55, grams: 0.15 });
});

Deno.test("without vectors, or in another language, characters decide, and the method says so", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  const english = await read(TURNS, "the refund takes days", failing);
  assertEquals([english.value, english.method], ["money", "few_shot_tfidf"]);
  const german = [turn("geld", "Die Rückzahlung läuft"), turn("paket", "Das Päckchen ist da")];
  const other = await read(german, "Ihre Rückzahlung läuft");
  assertEquals([other.value, other.method], ["geld", "few_shot_tfidf"]);
});
