import type { BatchSemantics } from "../batch_semantics.ts";
import type { AnnotatedReply } from "./annotator.ts";
import type { LabelGroup } from "./label.ts";
import type { Embedder } from "../embedder.ts";
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

/** The weight of the nearest example. */
const NEAREST_SHARE = 0.25;

/** By sentence vectors. */
export function createLabelIndex(
  { groups, semantics: { embedder } }: LabelIndexOptions,
): LabelIndex {
  const entries = groups.map((group) => ({ ...group, texts: textsOf(group) }));
  let vectors: Promise<LabelExamples[]> | undefined;
  /** Retried with the next reply after a failure. */
  const embedLabels = () => {
    vectors ??= Promise.all(entries.map((entry) => createLabelVectors(entry, embedder)));
    vectors.catch(() => vectors = undefined);
    return vectors;
  };

  return async ({ text, interaction }, { isExample } = { isExample: false }) => {
    const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
    return groups.map((group, at) => {
      const even = labels[at]!.evenNearness(vector, group.positions.get(interaction));
      return { ...describe(group), score: isExample ? even : labels[at]!.nearness(vector), even };
    });
  };
}

function textsOf({ examples }: LabelGroup): string[] {
  return examples.map(({ text }) => text);
}

function describe({ label, examples }: LabelGroup) {
  return { label, examples: examples.length };
}

/** A label's examples, ready to be compared with the vector of a reply. */
interface LabelExamples {
  nearness(reply: Float32Array): number;
  /**
   * The same with one example less: without `own`, or if that is `undefined` the mean over leaving
   * out each in turn. A label with a single example keeps it.
   */
  evenNearness(reply: Float32Array, own: number | undefined): number;
}

/**
 * By sentence vectors: 0.75 × cosine with the mean example + 0.25 × with the nearest. The label's
 * words are one more example, which is never left out. Rejects if the embedder does.
 */
export async function createLabelVectors(
  { texts, words }: { texts: string[]; words: string },
  embedder: Pick<Embedder, "embed">,
): Promise<LabelExamples> {
  const units = (await Promise.all([...texts, words].map(embedder.embed))).map(toUnit);
  const sum = pool(units);
  const squares = product(sum, sum);
  const withSum = units.map((unit) => product(unit, sum));
  /** Repeated replies have the same vector. */
  const known = new WeakMap<Float32Array, ReturnType<typeof compareAll>>();

  function compareAll(reply: Float32Array) {
    const toExamples = products(toUnit(reply), units);
    return {
      toExamples,
      total: toExamples.reduce((total, nearness) => total + nearness, 0),
      descending: toExamples.toSorted((a, b) => b - a),
    };
  }

  function nearness(reply: Float32Array, without?: number): number {
    const { toExamples, total, descending } = known.getOrInsertComputed(reply, compareAll);
    const left = without === undefined ? 0 : toExamples[without]!;
    const nearest = without !== undefined && left === descending[0] ? descending[1] : descending[0];
    // The sum of the others, squared: |sum − own|², where |own| is 1.
    const rest = without === undefined ? 0 : 1 - 2 * withSum[without]!;
    const length = Math.sqrt(Math.max(0, squares + rest));
    const toCentre = length === 0 ? 0 : (total - left) / length;
    return (1 - NEAREST_SHARE) * toCentre + NEAREST_SHARE * nearest!;
  }

  return {
    nearness: (reply) => nearness(reply),
    evenNearness(reply, own) {
      if (texts.length < 2) return nearness(reply);
      if (own !== undefined) return nearness(reply, own);
      return texts.reduce((sum, _, at) => sum + nearness(reply, at), 0) / texts.length;
    },
  };
}
