// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * `deno task sentiment-model`: trains the sentiment model on the sentences of `data/` and writes
 * `eval/score/metadata/sentiment_model.json`. Needed again after a change of the encoder or the
 * sentences.
 */
import { toUnit } from "../../eval/score/vectors.ts";
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { phraseSentences, readSentences, SENTIMENTS } from "./sentiment_sentences.ts";

/** Larger values make the model less confident; with this one its confidence is right. */
const RIDGE = 0.001;
const STEPS = 300;
const RATE = 0.1;

interface Trained {
  vector: Float32Array;
  /** Its position in `SENTIMENTS`. */
  sentiment: number;
}

/** Multinomial logistic regression by Adam over all examples at once, without randomness. */
export function trainSentiment(examples: Trained[]): Float64Array[] {
  const size = examples[0]!.vector.length + 1;
  const weights = SENTIMENTS.map(() => new Float64Array(size));
  const [slopes, squares] = [weights, weights].map((like) =>
    like.map(() => new Float64Array(size))
  ) as [Float64Array[], Float64Array[]];
  for (let step = 1; step <= STEPS; step++) {
    const gradient = gradientOf(examples, weights);
    for (const [at, own] of weights.entries()) {
      for (let i = 0; i < size; i++) {
        const ridge = i === size - 1 ? 0 : RIDGE * own[i]!; // not on the bias of the class
        const slope = gradient[at]![i]! + ridge;
        const mean = slopes[at]![i] = 0.9 * slopes[at]![i]! + 0.1 * slope;
        const square = squares[at]![i] = 0.99 * squares[at]![i]! + 0.01 * slope ** 2;
        const norm = Math.sqrt(square / (1 - 0.99 ** step)) + 1e-9;
        own[i]! -= RATE * (mean / (1 - 0.9 ** step)) / norm;
      }
    }
  }
  return weights;
}

function gradientOf(examples: Trained[], weights: Float64Array[]): Float64Array[] {
  const gradient = weights.map(({ length }) => new Float64Array(length));
  for (const { vector, sentiment } of examples) {
    const scores = weights.map((own) => {
      let score = own[vector.length]!;
      for (let i = 0; i < vector.length; i++) score += own[i]! * vector[i]!;
      return score;
    });
    const highest = Math.max(...scores);
    const shares = scores.map((score) => Math.exp(score - highest));
    const total = shares.reduce((sum, share) => sum + share, 0);
    for (const [at, own] of gradient.entries()) {
      const error = (shares[at]! / total - (at === sentiment ? 1 : 0)) / examples.length;
      for (let i = 0; i < vector.length; i++) own[i]! += error * vector[i]!;
      own[vector.length]! += error;
    }
  }
  return gradient;
}

if (import.meta.main) {
  using embedder = createLocalEmbedder();
  const sentences = [...await readSentences("sentiment_train.txt"), ...phraseSentences()];
  const examples = await Promise.all(sentences.map(async ({ text, sentiment }) => ({
    vector: toUnit(await embedder.embed(text)),
    sentiment: SENTIMENTS.indexOf(sentiment),
  })));
  const weights = trainSentiment(examples);
  const model = {
    encoder: embedder.method,
    ...Object.fromEntries(SENTIMENTS.map((sentiment, at) => [
      sentiment,
      Array.from(weights[at]!, (weight) => Number(weight.toFixed(3))).join(" "),
    ])),
  };
  const path = new URL("../../eval/score/metadata/sentiment_model.json", import.meta.url);
  await Deno.writeTextFile(path, `${JSON.stringify(model, null, 2)}\n`);
  console.log(`trained on ${examples.length} sentences with ${embedder.method}`);
}
