import type { BatchSemantics } from "../batch_semantics.ts";
import { type CharTfIdf, gramCosine, gramProduct, type GramVector } from "../text/char_tfidf.ts";
import type { AnnotatedReply } from "./annotator.ts";
import type { LabelGroup } from "./label.ts";
import type { Embedder } from "../embeddings/embedder.ts";
import { pool, product, products, toUnit } from "../vectors.ts";

/** How near a reply is to one label. */
export interface LabelScore {
  label: unknown;
  /** The number of examples of the label. */
  examples: number;
  score: number;
  /**
   * The score with one example less for every label that has several: for the turn's own label
   * without its reference, for the others the mean over leaving out each. So the turn's reference
   * gives its label no advantage.
   */
  even: number;
}

/**
 * Scores every label of a key for a reply, or for a reference as if it were not an example; then
 * `score` equals `even`. Rejects if the embedder fails.
 */
type LabelIndex = (
  reply: Pick<AnnotatedReply, "text" | "interaction">,
  options?: { isExample: boolean },
) => Promise<LabelScore[]>;

interface LabelIndexOptions {
  groups: LabelGroup[];
  semantics: BatchSemantics;
}

/** The weights of the nearness in characters, and of the nearness to the words of a label. */
const GRAM_SHARE = 0.5;
const GRAM_WORDS_SHARE = 0.3;
const VECTOR_WORDS_SHARE = 0.5;
/** The weight of the nearest example beside the mean example. */
const NEAREST_SHARE = 0.25;

/** By sentence vectors and characters: nearness of the vectors + 0.5 × TF-IDF cosine. */
export async function createVectorIndex(
  { groups, semantics }: LabelIndexOptions,
): Promise<LabelIndex> {
  const { embedder } = semantics;
  const weigh = await semantics.tfIdf();
  const entries = groups.map((group) => ({ ...group, texts: textsOf(group) }));
  const grams = entries.map(({ texts }) => createLabelGrams(texts, weigh));
  let vectors: Promise<LabelExamples<Float32Array>[]> | undefined;
  /** Retried with the next reply after a failure. */
  const embedLabels = () => {
    vectors ??= Promise.all(entries.map((entry) => createLabelVectors(entry, embedder)));
    vectors.catch(() => vectors = undefined);
    return vectors;
  };

  return async ({ text, interaction }, { isExample } = { isExample: false }) => {
    const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
    const reply = weigh(text);
    return groups.map((group, at) => {
      const own = group.positions.get(interaction);
      const even = labels[at]!.evenNearness(vector, own);
      if (isExample) {
        const score = even + GRAM_SHARE * grams[at]!.evenNearness(reply, own);
        return { ...describe(group), score, even: score };
      }
      const score = labels[at]!.nearness(vector) + GRAM_SHARE * grams[at]!.nearness(reply);
      return { ...describe(group), score, even };
    });
  };
}

/** By characters only: TF-IDF cosine with the examples + 0.3 × with the words of the label. */
export async function createGramIndex(
  { groups, semantics }: LabelIndexOptions,
): Promise<LabelIndex> {
  const weigh = await semantics.tfIdf();
  const entries = groups.map((group) => ({
    group,
    grams: createLabelGrams(textsOf(group), weigh),
    words: weigh(group.words),
  }));
  return ({ text, interaction }, { isExample } = { isExample: false }) => {
    const reply = weigh(text);
    return Promise.resolve(entries.map(({ group, grams, words }) => {
      const toWords = GRAM_WORDS_SHARE * gramCosine(reply, words);
      const even = grams.evenNearness(reply, group.positions.get(interaction)) + toWords;
      return {
        ...describe(group),
        score: isExample ? even : grams.nearness(reply) + toWords,
        even,
      };
    }));
  };
}

function textsOf({ examples }: LabelGroup): string[] {
  return examples.map(({ text }) => text);
}

function describe({ label, examples }: LabelGroup) {
  return { label, examples: examples.length };
}

/** A label's examples, ready to be compared with the vector of a reply. */
interface LabelExamples<Vector> {
  nearness(reply: Vector): number;
  /**
   * The same with one example less: without `own`, or if that is `undefined` the mean over leaving
   * out each in turn. A label with a single example keeps it.
   */
  evenNearness(reply: Vector, own: number | undefined): number;
}

function leavingOut<Vector>(
  examples: readonly unknown[],
  nearness: (reply: Vector, without?: number) => number,
): LabelExamples<Vector> {
  return {
    nearness: (reply) => nearness(reply),
    evenNearness(reply, own) {
      if (examples.length < 2) return nearness(reply);
      if (own !== undefined) return nearness(reply, own);
      return examples.reduce<number>((sum, _, at) => sum + nearness(reply, at), 0) /
        examples.length;
    },
  };
}

/**
 * By TF-IDF: the cosine with the sum of the examples. They are summed once, so that leaving one out
 * costs one comparison.
 */
export function createLabelGrams(texts: string[], weigh: CharTfIdf): LabelExamples<GramVector> {
  const examples = texts.map(weigh);
  const sum: GramVector = { weights: new Map(), squares: 0 };
  for (const { weights } of examples) {
    for (const [gram, weight] of weights) {
      sum.weights.set(gram, (sum.weights.get(gram) ?? 0) + weight);
    }
  }
  for (const weight of sum.weights.values()) sum.squares += weight ** 2;
  const withSum = examples.map((example) => gramProduct(example, sum));
  /** Repeated replies have the same vector. */
  const known = new WeakMap<GramVector, number>();

  function nearness(reply: GramVector, without?: number): number {
    let product = known.getOrInsertComputed(reply, () => gramProduct(reply, sum));
    let { squares } = sum;
    if (without !== undefined) {
      const left = examples[without]!;
      product -= gramProduct(reply, left);
      squares += left.squares - 2 * withSum[without]!;
    }
    const length = Math.sqrt(reply.squares * Math.max(0, squares));
    return length === 0 ? 0 : Math.min(1, Math.max(0, product / length));
  }

  return leavingOut(examples, nearness);
}

/**
 * By sentence vectors: 0.75 × cosine with the mean example + 0.25 × with the nearest + 0.5 × with
 * the label's words. Rejects if the embedder does.
 */
export async function createLabelVectors(
  { texts, words }: { texts: string[]; words: string },
  embedder: Pick<Embedder, "embed">,
): Promise<LabelExamples<Float32Array>> {
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
    if (nearest === undefined) return VECTOR_WORDS_SHARE * toWords;
    // The sum of the others, squared: |sum − own|², where |own| is 1.
    const rest = without === undefined ? 0 : 1 - 2 * withSum[without]!;
    const length = Math.sqrt(Math.max(0, squares + rest));
    const toCentre = length === 0 ? 0 : (total - left) / length;
    return (1 - NEAREST_SHARE) * toCentre + NEAREST_SHARE * nearest +
      VECTOR_WORDS_SHARE * toWords;
  }

  return leavingOut(units, nearness);
}
