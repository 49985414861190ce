import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { createBatchSemantics } from "../../../../eval/assess/batch_semantics.ts";
import type { Embedder } from "../../../../eval/assess/embeddings/embedder.ts";
import {
  areSentiments,
  createSentimentAnnotator,
  readSentiment,
  type SentimentModel,
} from "../../../../eval/assess/metadata/sentiment.ts";
import { SENTIMENT_MODEL } from "../../../../eval/assess/metadata/sentiment_model.ts";
import { createLocalEmbedder } from "../../../../eval/assess/embeddings/local.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";

/** The vector's first number is joy, its second grief; a text with neither is neutral. */
const MODEL: SentimentModel = {
  encoder: "moods",
  weights: {
    positive: Float32Array.of(6, 0, 0, 0),
    neutral: Float32Array.of(0, 0, 0, 2),
    negative: Float32Array.of(0, 6, 0, 0),
  },
};

const VECTORS: Record<string, number[]> = {
  "that is great": [1, 0, 0],
  "that is awful": [0, 1, 0],
  "that is a parcel": [0, 0, 1],
  "that is so so": [1, 1, 0],
};

function createAnnotator(labels: string[], more: Partial<Embedder> = {}) {
  const batch = [scenario("s", [interaction("i")])];
  const { embedder } = fakeEmbedder({
    method: "moods",
    embed: (text) => Promise.resolve(Float32Array.from(VECTORS[text]!)),
    ...more,
  });
  return createSentimentAnnotator({
    labels: new Map(labels.map((label) => [label.toLowerCase(), label])),
    semantics: createBatchSemantics(batch, { embedder }),
    model: MODEL,
  });
}

const read = (labels: string[], text: string) =>
  createAnnotator(labels).annotate({ text, interaction: interaction("i") });

Deno.test("a sentiment comes with its chance, which is the model's", async () => {
  const { value, confidence, method } = await read(["positive"], "that is great");
  assertEquals([value, method], ["positive", "sentiment_model"]);
  assertAlmostEquals(confidence!, Math.exp(6) / (Math.exp(6) + Math.exp(2) + 1), 1e-6);
  assertEquals((await read(["positive"], "that is awful")).value, "negative");
  assertEquals((await read(["positive"], "that is a parcel")).value, "neutral");
});

Deno.test("the chances of a text add up to 1", () => {
  const chances = readSentiment(MODEL, Float32Array.from([3, 4, 0]));
  assertAlmostEquals(chances.reduce((sum, { chance }) => sum + chance, 0), 1, 1e-9);
});

Deno.test("a sentiment is spelled as the batch spells it", async () => {
  assertEquals((await read(["POSITIVE"], "that is great")).value, "POSITIVE");
});

Deno.test("a sentiment that is not clear is not given", async () => {
  const { value, confidence, reason } = await read(["positive"], "that is so so");
  assertEquals([value, confidence, reason], [undefined, null, "the sentiment is not clear"]);
});

Deno.test("a text in another language has no sentiment, and is not neutral", async () => {
  const { value, reason } = await read(["neutral"], "Das ist völlig großartig");
  assertEquals([value, reason], [undefined, "the reply is not English"]);
});

Deno.test("without the encoder there is no sentiment by another method", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  const annotator = createAnnotator(["positive"], failing);
  const subject = { text: "that is great", interaction: interaction("i") };
  await assertRejects(() => annotator.annotate(subject), Error, "no weights");
  // A reference that could not be encoded must not count as labelled wrong.
  await assertRejects(() => annotator.relabel({ ...subject, label: "positive" }), Error);
});

Deno.test("the model is for the key sentiment and its three labels", () => {
  assert(areSentiments("sentiment", ["positive", "neutral"]));
  assert(areSentiments("Sentiment", ["negative"]));
  assert(!areSentiments("intent", ["positive"]));
  assert(!areSentiments("sentiment", ["joy", "anger"]));
  assert(!areSentiments("sentiment", ["positive", "very positive"]));
});

Deno.test("the built-in model was trained with the built-in encoder", async () => {
  using embedder = createLocalEmbedder();
  assertEquals(SENTIMENT_MODEL.encoder, embedder.method);
  const sentences: [string, string][] = [
    ["I'm delighted with this, thank you so much!", "positive"],
    ["The shop opens at nine on weekdays.", "neutral"],
    ["This is the worst service I have ever had.", "negative"],
  ];
  for (const [text, sentiment] of sentences) {
    const vector = await embedder.embed(text);
    assertEquals(SENTIMENT_MODEL.weights.positive.length, vector.length + 1);
    const [best] = readSentiment(SENTIMENT_MODEL, vector).toSorted((a, b) => b.chance - a.chance);
    assertEquals(best!.sentiment, sentiment);
    assert(best!.chance > 0.6);
  }
});
