import { type Embedder, pool, product, products, toUnit } from "../embeddings/embedder.ts";

const NEAREST_SHARE = 0.25;
const WORDS_SHARE = 0.5;

/** A label's examples as sentence vectors, ready to be compared with a reply. */
export interface LabelVectors {
  /**
   * 0.75 × cosine with the mean example + 0.25 × with the nearest + 0.5 × with the label's words.
   */
  nearness(reply: Float32Array): number;
  /**
   * The same with one example less: without `own`, or if that is `undefined` the mean over leaving
   * out each in turn. A label with a single example keeps it.
   */
  evenNearness(reply: Float32Array, own: number | undefined): number;
}

/** Rejects if the embedder does. */
export async function createLabelVectors(
  { texts, words }: { texts: string[]; words: string },
  embedder: Pick<Embedder, "embed">,
): Promise<LabelVectors> {
  const ownWords = toUnit(await embedder.embed(words));
  const units = (await Promise.all(texts.map((text) => embedder.embed(text)))).map(toUnit);
  const sum = pool(units);
  const squares = product(sum, sum);
  const withSum = units.map((unit) => product(unit, sum));
  /** Repeated replies have the same vector. */
  const known = new WeakMap<Float32Array, ReturnType<typeof compareAll>>();

  function compareAll(reply: Float32Array) {
    const unit = toUnit(reply);
    const toExamples = products(unit, units);
    return {
      toExamples,
      toWords: product(unit, ownWords),
      total: toExamples.reduce((total, nearness) => total + nearness, 0),
      descending: toExamples.toSorted((a, b) => b - a),
    };
  }

  function nearness(reply: Float32Array, without?: number): number {
    const { toExamples, toWords, total, descending } = known.getOrInsertComputed(reply, compareAll);
    const left = without === undefined ? 0 : toExamples[without]!;
    const nearest = without !== undefined && left === descending[0] ? descending[1] : descending[0];
    if (nearest === undefined) return WORDS_SHARE * toWords;
    // The sum of the others, squared: |sum − own|², where |own| is 1.
    const rest = without === undefined ? 0 : 1 - 2 * withSum[without]!;
    const length = Math.sqrt(Math.max(0, squares + rest));
    const toCentre = length === 0 ? 0 : (total - left) / length;
    return (1 - NEAREST_SHARE) * toCentre + NEAREST_SHARE * nearest + WORDS_SHARE * toWords;
  }

  return {
    nearness: (reply) => nearness(reply),
    evenNearness(reply, own) {
      if (units.length < 2) return nearness(reply);
      if (own !== undefined) return nearness(reply, own);
      return units.reduce((sum, _, at) => sum + nearness(reply, at), 0) / units.length;
    },
  };
}
