import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createBatchSemantics } from "../../../eval/batch_semantics.ts";
import type { Embedder } from "../../../eval/embeddings/embedder.ts";
import { semanticSimilarity } from "../../../eval/scores/semantic_similarity.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { fakeDetector, fakeEmbedder } from "../../fakes/scoring_ports.ts";

const REFERENCES = ["Ihre Bestellung ist unterwegs", "您的订单已经发货。", "The parcel is here."];
const BATCH = [scenario(
  "s",
  REFERENCES.map((reference_reply) => interaction("i", { reference_reply })),
)];

function similarity(reply: string, reference: string, more: Partial<Embedder> = {}) {
  const { embedder } = fakeEmbedder(more);
  const semantics = createBatchSemantics(BATCH, { embedder, detector: fakeDetector });
  return semanticSimilarity({ reply, reference }, semantics);
}

Deno.test("English is 0.7 × cosine of vectors + 0.3 × F1 over stems", async () => {
  // Vectors: one of two words shared, 1/2. Stems: both shared ("ships", "shipping"), 1.
  const { value, method } = await similarity("parcel ships", "parcel shipping");
  assertAlmostEquals(value, 0.7 * 0.5 + 0.3 * 1, 1e-6);
  assertEquals(method, "bag_of_words+stems");
});

Deno.test("a cosine below 0 counts as 0", async () => {
  const opposite = {
    embed: (t: string) => Promise.resolve(Float32Array.of(t === "one a" ? 1 : -1)),
  };
  assertEquals((await similarity("one a", "two b", opposite)).value, 0);
});

Deno.test("other languages are compared by their characters, and the result says so", async () => {
  const near = await similarity("您的订单尚未发货。", "您的订单已经发货。");
  const far = await similarity("今天天气很好", "您的订单已经发货。");
  assertEquals([near.method, far.method], ["char_tfidf", "char_tfidf"]);
  assert(near.value > 0.3 && near.value < 1, `${near.value}`);
  assert(far.value < near.value);
});

Deno.test("without vectors English is compared by its characters, and the result says so", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  const { value, method } = await similarity(
    "The parcel is there.",
    "The parcel is here.",
    failing,
  );
  assertEquals(method, "char_tfidf (bag_of_words unavailable)");
  assert(value > 0.3 && value < 1);
});

Deno.test("an embeddings endpoint is asked in every language, and its cosine is the score", async () => {
  const endpoint = { isEnglishOnly: false, method: "endpoint_embeddings:m" };
  const { value, method } = await similarity("schöne Grüße", "schöne Tage", endpoint);
  assertEquals(method, "endpoint_embeddings:m");
  assertAlmostEquals(value, 0.5, 1e-6);
});

Deno.test("a broken language detector leaves a score, and a service", async () => {
  const { embedder } = fakeEmbedder();
  const detector = {
    detect: () => Promise.reject(new Error("x")),
    [Symbol.dispose]() {},
  };
  const semantics = createBatchSemantics(BATCH, { embedder, detector });
  const pair = { reply: "The parcel", reference: "The parcel" };
  assertEquals(await semanticSimilarity(pair, semantics), { value: 1, method: "char_tfidf" });
});

Deno.test("the value lies between 0 and 1, is symmetric, and 1 for a text with itself", async () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...REFERENCES));
  await fc.assert(fc.asyncProperty(text, text, async (reply, reference) => {
    const [there, back, same] = await Promise.all([
      similarity(reply, reference),
      similarity(reference, reply),
      similarity(reply, reply),
    ]);
    assert(there.value >= 0 && there.value <= 1, `${there.value}`);
    assertAlmostEquals(there.value, back.value, 1e-9);
    assertAlmostEquals(same.value, 1, 1e-6);
  }));
});

Deno.test("another reply has no say in a score: the weights come from the references", async () => {
  const { embedder } = fakeEmbedder();
  const semantics = createBatchSemantics(BATCH, { embedder, detector: fakeDetector });
  const pair = { reply: "您的订单尚未发货。", reference: REFERENCES[1]! };
  const before = await semanticSimilarity(pair, semantics);
  await semanticSimilarity({ reply: "您的订单".repeat(50), reference: REFERENCES[1]! }, semantics);
  assertEquals(await semanticSimilarity(pair, semantics), before);
});
