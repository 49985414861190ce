import { FEW_SHOT } from "../../test/labels.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { Embedder } from "../scoring_ports.ts";
import { pool, product, products, toUnit } from "../vectors.ts";
import { type AnnotatedReply, type KeyAnnotator, type LabelExample, noLabel } from "./annotator.ts";
import { type LabelGroup, spreadSample } from "./label.ts";

/** A label whose confidence is not higher is more likely wrong than right. */
const LOWEST_CONFIDENCE = 0.5;
/** The most comparisons of two texts in a self-check: about half a second. */
const CHECK_BUDGET = 200_000;
const CHECKED = { atLeast: 30, atMost: 200 };

/**
 * Gives a reply the label whose examples are nearest to it. The examples are the batch's
 * references, including that of the turn. `undefined` if fewer than two labels have an example.
 */
export function createFewShot(
  groups: LabelGroup[],
  semantics: BatchSemantics,
) {
  const examples = groups.flatMap(({ examples }) => examples);
  if (groups.filter(({ examples }) => examples.length > 0).length < 2) return undefined;
  const index = createLabelIndex(groups, semantics);

  const annotator: KeyAnnotator = {
    method: FEW_SHOT,
    async annotate(reply) {
      const lead = readLead(await index(reply));
      if (lead.score < LOWEST_SCORE) return noLabel(FEW_SHOT, "no label is near enough");
      const confidence = confidenceIn(lead);
      if (confidence <= LOWEST_CONFIDENCE) {
        return noLabel(FEW_SHOT, "two labels are about equally near");
      }
      return { value: lead.label, method: FEW_SHOT, confidence };
    },
    relabel: async (example) => readLead(await index(example, { isExample: true })).label,
  };
  return {
    annotator,
    checkable: sampleCheckable(groups, examples.length),
    labels: groups.length,
  };
}

/** The references whose label has further examples. */
function sampleCheckable(groups: LabelGroup[], examples: number): LabelExample[] {
  const { atLeast, atMost } = CHECKED;
  const count = Math.min(atMost, Math.max(atLeast, Math.floor(CHECK_BUDGET / examples)));
  const checkable = groups.filter(({ examples }) => examples.length > 1)
    .flatMap(({ examples }) => examples);
  return spreadSample(checkable, count);
}

/** The lowest score at which a label is given. */
const LOWEST_SCORE = 0.27;

/**
 * The label nearest to a reply, and the inputs of its confidence. Among equally near labels the
 * first in the batch leads. Needs at least two labels.
 */
function readLead(scores: LabelScore[]) {
  const best = scores.reduce((best, scored) => scored.score > best.score ? scored : best);
  const others = scores.filter((scored) => scored !== best);
  const highest = (of: (scored: LabelScore) => number) =>
    others.reduce((highest, scored) => Math.max(highest, of(scored)), -Infinity);
  return {
    ...best,
    /** The difference to the next label. */
    margin: best.score - highest(({ score }) => score),
    /** The same of `even`; negative if another label is ahead in that. */
    evenMargin: best.even - highest(({ even }) => even),
  };
}

/**
 * Fitted by logistic regression to 3,000 labelled replies: paraphrases of references, replies that
 * share their subject but carry another label, and unseen questions, with 1 to 8 examples for each
 * of 2 to 77 labels.
 */
const WEIGHTS = { margin: 5.7, evenMargin: 8.5 };

/**
 * Limits what a negative `evenMargin` may cost: a reply in almost the words of its reference has
 * its label, whatever the other examples are.
 */
const LARGEST_LAG = 0.05;

/** The chance that the leading label is right: 0.5 if two labels are equally near. */
function confidenceIn({ margin, evenMargin, examples }: ReturnType<typeof readLead>): number {
  const logOdds = WEIGHTS.margin * margin +
    (examples > 1 ? WEIGHTS.evenMargin * Math.max(-LARGEST_LAG, evenMargin) : 0);
  return 1 / (1 + Math.exp(-logOdds));
}

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

/** The weight of the nearest example. */
const NEAREST_SHARE = 0.25;

/** By sentence vectors. */
export function createLabelIndex(groups: LabelGroup[], { embedder }: BatchSemantics): LabelIndex {
  let vectors: Promise<LabelExamples[]> | undefined;
  /** Retried with the next reply after a failure. */
  const embedLabels = () => {
    vectors ??= Promise.all(
      groups.map(({ examples, words }) =>
        createLabelVectors({ texts: examples.map(({ text }) => text), words }, embedder)
      ),
    );
    vectors.catch(() => vectors = undefined);
    return vectors;
  };

  return async ({ text, interaction }, { isExample } = { isExample: false }) => {
    const [vector, labels] = await Promise.all([embedder.embed(text), embedLabels()]);
    return groups.map((group, at) => {
      const even = labels[at]!.evenNearness(vector, group.positions.get(interaction));
      const score = isExample ? even : labels[at]!.nearness(vector);
      return { label: group.label, examples: group.examples.length, score, even };
    });
  };
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
