import type { BatchSemantics } from "../batch_semantics.ts";
import { product, toUnit } from "../vectors.ts";
import { type KeyAnnotation, type KeyAnnotator, noLabel } from "./annotator.ts";
import { labelKey } from "../../test/labels.ts";
import stored from "./sentiment_model.json" with { type: "json" };

const METHOD = "sentiment_model";
/** A less likely sentiment is not given. */
const LOWEST_CONFIDENCE = 0.6;
export const SENTIMENT_COUNT = 3;

/**
 * A logistic regression over the vectors of one encoder: for each sentiment one weight per
 * dimension, and a bias.
 */
export interface SentimentModel {
  /** The `method` of the embedder that it was trained with. It cannot use other vectors. */
  encoder: string;
  weights: Record<"positive" | "neutral" | "negative", Float32Array>;
}

const weightsOf = (text: string) => Float32Array.from(text.split(" "), Number);

/** Trained on sentences of our own by `deno task sentiment-model`. */
export const SENTIMENT_MODEL: SentimentModel = {
  encoder: stored.encoder,
  weights: {
    positive: weightsOf(stored.positive),
    neutral: weightsOf(stored.neutral),
    negative: weightsOf(stored.negative),
  },
};

/** The chances of the three sentiments for a text's vector. */
export function readSentiment(
  { weights }: SentimentModel,
  vector: Float32Array,
): { sentiment: string; chance: number }[] {
  const unit = toUnit(vector);
  const scored = Object.entries(weights).map(([sentiment, weights]) => ({
    sentiment,
    score: product(unit, weights) + weights[unit.length]!,
  }));
  const highest = Math.max(...scored.map(({ score }) => score));
  const shares = scored.map(({ score }) => Math.exp(score - highest));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return scored.map(({ sentiment }, at) => ({ sentiment, chance: shares[at]! / total }));
}

/** Whether the labels of a key are some of `positive`, `neutral` and `negative`. */
export function areSentiments(key: string, labels: Iterable<string>): boolean {
  return labelKey(key) === "sentiment" &&
    [...labels].every((label) => ["positive", "neutral", "negative"].includes(label));
}

/**
 * Labels English replies `positive`, `neutral` or `negative`, as `labels` has them by `labelKey`, or
 * not at all if it is unsure.
 */
export function createSentimentAnnotator(
  { labels, semantics, model }: {
    labels: Map<string, unknown>;
    semantics: BatchSemantics;
    model: SentimentModel;
  },
): KeyAnnotator {
  /** Rejects if the encoder is unavailable. */
  async function read(text: string): Promise<KeyAnnotation> {
    if (!await semantics.isEnglish(text)) return noLabel(METHOD, "the reply is not English");
    const chances = readSentiment(model, await semantics.embedder.embed(text));
    const best = chances.reduce((best, next) => next.chance > best.chance ? next : best);
    if (best.chance < LOWEST_CONFIDENCE) return noLabel(METHOD, "the sentiment is not clear");
    const value = labels.get(best.sentiment) ?? best.sentiment;
    return { value, method: METHOD, confidence: best.chance };
  }

  return {
    method: METHOD,
    annotate: ({ text }) => read(text),
    relabel: async ({ text }) => (await read(text)).value,
  };
}
