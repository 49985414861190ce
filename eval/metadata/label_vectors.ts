import { cosine, type Embedder, pool, toUnit } from "../embeddings/embedder.ts";

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
  return {
    nearness(reply, without) {
      const unit = toUnit(reply);
      const toWords = WORDS_SHARE * product(unit, ownWords);
      const others = units.filter((_, index) => index !== without);
      if (others.length === 0) return toWords;
      const nearest = Math.max(...others.map((other) => product(unit, other)));
      const left = without === undefined ? undefined : units[without];
      const centre = left ? sum.map((value, i) => value - left[i]!) : sum;
      return (cosine(unit, centre) + nearest) / 2 + toWords;
    },
  };
}

function product(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += left[i]! * right[i]!;
  return sum;
}
