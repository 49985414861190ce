import type { Interaction } from "../../schemas/scenario.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import { type CharTfIdf, gramCosine, gramProduct, type GramVector } from "../text/char_tfidf.ts";
import type { AnnotatedReply, LabelExample } from "./annotator.ts";
import type { LabelGroup } from "./label_examples.ts";
import { createLabelVectors, type LabelVectors } from "./label_vectors.ts";

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

/** Scores every label of a key for a reply. */
interface LabelIndex {
  /** Rejects if the embedder fails. */
  score(reply: AnnotatedReply): Promise<LabelScore[]>;
  /** Scores a reference as if it were not an example; `score` equals `even`. */
  scoreExample(example: LabelExample): Promise<LabelScore[]>;
}

interface LabelIndexOptions {
  groups: LabelGroup[];
  semantics: BatchSemantics;
}

const GRAM_SHARE = 0.5;
const WORDS_SHARE = 0.3;

/** By sentence vectors and characters: `LabelVectors.nearness` + 0.5 × TF-IDF cosine. */
export async function createVectorIndex(
  { groups, semantics }: LabelIndexOptions,
): Promise<LabelIndex> {
  const { embedder } = semantics;
  const weigh = await semantics.tfIdf();
  const entries = groups.map((group) => ({ ...group, texts: textsOf(group) }));
  const grams = entries.map(({ texts }) => createLabelGrams(texts, weigh));
  let vectors: Promise<LabelVectors[]> | undefined;
  /** Retried with the next reply after a failure. */
  const embedLabels = () => {
    vectors ??= Promise.all(entries.map((entry) => createLabelVectors(entry, embedder)));
    vectors.catch(() => vectors = undefined);
    return vectors;
  };

  return {
    async score({ text, interaction }) {
      const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
      const reply = weigh(text);
      return groups.map((group, at) => ({
        ...describe(group),
        score: labels[at]!.nearness(vector) + GRAM_SHARE * grams[at]!.nearness(reply),
        even: labels[at]!.evenNearness(vector, group.positions.get(interaction)),
      }));
    },
    async scoreExample({ text, interaction }) {
      const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
      const reply = weigh(text);
      return groups.map((group, at) => {
        const own = group.positions.get(interaction);
        const even = labels[at]!.evenNearness(vector, own) +
          GRAM_SHARE * grams[at]!.evenNearness(reply, own);
        return { ...describe(group), score: even, even };
      });
    },
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

  function scoreAll(text: string, interaction: Interaction): LabelScore[] {
    const reply = weigh(text);
    return entries.map(({ group, grams, words }) => {
      const toWords = WORDS_SHARE * gramCosine(reply, words);
      const even = grams.evenNearness(reply, group.positions.get(interaction));
      return {
        ...describe(group),
        score: grams.nearness(reply) + toWords,
        even: even + toWords,
      };
    });
  }

  return {
    score: ({ text, interaction }) => Promise.resolve(scoreAll(text, interaction)),
    scoreExample: ({ text, interaction }) =>
      Promise.resolve(
        scoreAll(text, interaction).map((scored) => ({ ...scored, score: scored.even })),
      ),
  };
}

function textsOf({ examples }: LabelGroup): string[] {
  return examples.map(({ text }) => text);
}

function describe({ label, examples }: LabelGroup) {
  return { label, examples: examples.length };
}

/** A label's examples as TF-IDF vectors, ready to be compared with a reply. */
interface LabelGrams {
  /** The cosine with the sum of the examples. */
  nearness(reply: GramVector): number;
  /**
   * The same with one example less: without `own`, or if that is `undefined` the mean over leaving
   * out each in turn. A label with a single example keeps it.
   */
  evenNearness(reply: GramVector, own: number | undefined): number;
}

/** Sums the examples once, so that leaving one out costs one comparison. */
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

  return {
    nearness: (reply) => nearness(reply),
    evenNearness(reply, own) {
      if (examples.length < 2) return nearness(reply);
      if (own !== undefined) return nearness(reply, own);
      return examples.reduce((sum, _, at) => sum + nearness(reply, at), 0) / examples.length;
    },
  };
}
