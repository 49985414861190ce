import { type CharTfIdf, gramProduct, type GramVector } from "../text/char_tfidf.ts";

/** A label's examples as TF-IDF vectors, ready to be compared with a reply. */
interface LabelGrams {
  /** Cosine with the sum of the examples. */
  nearness(reply: GramVector): number;
  /**
   * The same with one example less: without `own`, or if that is `undefined` the mean over leaving
   * out each in turn. A label with a single example keeps it.
   */
  evenNearness(reply: GramVector, own: number | undefined): number;
}

/** Sums the examples once, so that leaving one out costs no more than a comparison with it. */
export function createLabelGrams(texts: string[], weigh: CharTfIdf): LabelGrams {
  const examples = texts.map(weigh);
  const sum: GramVector = { weights: new Map(), squares: 0 };
  for (const { weights } of examples) {
    for (const [gram, weight] of weights) {
      sum.weights.set(gram, (sum.weights.get(gram) ?? 0) + weight);
    }
  }
  for (const weight of sum.weights.values()) sum.squares += weight ** 2;
  const withSum = examples.map((example) => gramProduct(example, sum));
  /** A reply that repeats has the same vector. */
  const known = new WeakMap<GramVector, number>();

  function productWithSum(reply: GramVector): number {
    let product = known.get(reply);
    if (product === undefined) known.set(reply, product = gramProduct(reply, sum));
    return product;
  }

  function nearness(reply: GramVector, without?: number): number {
    let product = productWithSum(reply);
    let { squares } = sum;
    if (without !== undefined) {
      const left = examples[without]!;
      product -= gramProduct(reply, left);
      squares += left.squares - 2 * withSum[without]!;
    }
    const length = Math.sqrt(reply.squares * Math.max(0, squares));
    return length === 0 ? 0 : Math.min(1, Math.max(0, product / length));
  }

  return {
    nearness: (reply) => nearness(reply),
    evenNearness(reply, own) {
      if (examples.length < 2) return nearness(reply);
      if (own !== undefined) return nearness(reply, own);
      return examples.reduce((sum, _, at) => sum + nearness(reply, at), 0) / examples.length;
    },
  };
}
