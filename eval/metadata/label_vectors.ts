import { type Embedder, pool, product, products, toUnit } from "../embeddings/embedder.ts";

const WORDS_SHARE = 0.3;

/** A label's examples as sentence vectors, ready to be compared with a reply. */
export interface LabelVectors {
  /** Half nearness to the mean of the examples, half to the nearest; and 0.3 × to the label. */
  nearness(reply: Float32Array, without: number | undefined): number;
}

/** Rejects where the embedder does. */
export async function createLabelVectors(
  { texts, words }: { texts: string[]; words: string },
  embedder: Embedder,
): Promise<LabelVectors> {
  const ownWords = toUnit(await embedder.embed(words));
  const units = (await Promise.all(texts.map((text) => embedder.embed(text)))).map(toUnit);
  const sum = pool(units);
  const squares = product(sum, sum);
  const withSum = units.map((unit) => product(unit, sum));
  /** A reply that repeats has the same vector: what it shares with the examples is known. */
  const known = new WeakMap<Float32Array, { toExamples: number[]; toWords: number }>();

  function compare(reply: Float32Array) {
    let compared = known.get(reply);
    if (!compared) {
      const unit = toUnit(reply);
      known.set(
        reply,
        compared = { toExamples: products(unit, units), toWords: product(unit, ownWords) },
      );
    }
    return compared;
  }

  return {
    nearness(reply, without) {
      const { toExamples, toWords } = compare(reply);
      let total = 0;
      let nearest = -1;
      for (const [index, nearness] of toExamples.entries()) {
        if (index === without) continue;
        total += nearness;
        if (nearness > nearest) nearest = nearness;
      }
      const isEmpty = units.length - (without === undefined ? 0 : 1) <= 0;
      if (isEmpty) return WORDS_SHARE * toWords;
      // The sum of the others, squared: |sum − own|², where |own| is 1.
      const left = without === undefined ? 0 : 1 - 2 * withSum[without]!;
      const length = Math.sqrt(Math.max(0, squares + left));
      const toCentre = length === 0 ? 0 : total / length;
      return (toCentre + nearest) / 2 + WORDS_SHARE * toWords;
    },
  };
}
