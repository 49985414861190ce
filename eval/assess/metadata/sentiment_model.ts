import model from "./sentiment_model.json" with { type: "json" };
import type { SentimentModel } from "./sentiment.ts";

const weightsOf = (text: string) => Float32Array.from(text.split(" "), Number);

/** Trained on sentences of our own by `deno task sentiment-model`. */
export const SENTIMENT_MODEL: SentimentModel = {
  encoder: model.encoder,
  weights: {
    positive: weightsOf(model.positive),
    neutral: weightsOf(model.neutral),
    negative: weightsOf(model.negative),
  },
};
