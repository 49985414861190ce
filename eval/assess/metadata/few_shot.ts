import type { Scenario } from "../../schemas/scenario.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { KeyAnnotation, KeyAnnotator, LabelExample } from "./annotator.ts";
import { areMostly, collectExamples, type LabelGroup } from "./label_examples.ts";
import { createGramIndex, createVectorIndex, type LabelScore } from "./label_index.ts";
import { spreadSample } from "./self_check.ts";

/** The method of labels that are read by sentence vectors. */
export const VECTOR_LABELS = "few_shot";

/** Below it a label is as likely wrong as right. */
const LOWEST_CONFIDENCE = 0.5;
/** Comparisons of two texts that a self-check may take: about half a second. */
const CHECK_BUDGET = 200_000;
const CHECKED = { atLeast: 30, atMost: 200 };

/** A few-shot annotator and the references that it can be checked with. */
interface FewShot {
  annotator: KeyAnnotator;
  checkable: LabelExample[];
  labels: number;
}

/**
 * Gives a reply one of the labels that the batch's references carry for a key: the one whose
 * examples it is nearest to, the turn's own reference among them. By sentence vectors if the
 * references are in a language that the embedder knows, else by characters: that is decided once,
 * and never by a reply. `undefined` if there are not two labels with an example to choose from.
 */
export async function createFewShot(
  key: string,
  { scenarios, semantics }: { scenarios: Scenario[]; semantics: BatchSemantics },
): Promise<FewShot | undefined> {
  const groups = collectExamples(key, scenarios);
  const examples = groups.flatMap(({ examples }) => examples);
  if (groups.filter(({ examples }) => examples.length > 0).length < 2) return undefined;
  const kind: LabelKind = await areMostly(examples, semantics.isEmbeddable) ? "vectors" : "grams";
  const create = kind === "vectors" ? createVectorIndex : createGramIndex;
  const index = await create({ groups, semantics });
  const method = kind === "vectors" ? VECTOR_LABELS : "few_shot_tfidf";
  const none = (reason: string): KeyAnnotation => ({
    value: undefined,
    method,
    confidence: null,
    reason,
  });

  return {
    annotator: {
      method,
      async annotate(reply) {
        const lead = readLead(await index.score(reply));
        if (lead.score < THRESHOLDS[kind]) return none("no label is near enough");
        const confidence = confidenceIn(lead, kind);
        if (confidence < LOWEST_CONFIDENCE) return none("two labels are about equally near");
        return { value: lead.label, method, confidence };
      },
      relabel: async (example) => readLead(await index.scoreExample(example)).label,
    },
    checkable: sampleCheckable(groups, examples.length),
    labels: groups.length,
  };
}

/** The references whose label has another example to be recognised by. */
function sampleCheckable(groups: LabelGroup[], examples: number): LabelExample[] {
  const { atLeast, atMost } = CHECKED;
  const count = Math.min(atMost, Math.max(atLeast, Math.floor(CHECK_BUDGET / examples)));
  const checkable = groups.filter(({ examples }) => examples.length > 1)
    .flatMap(({ examples }) => examples);
  return spreadSample(checkable, count);
}

/** What labels are compared by. */
type LabelKind = "vectors" | "grams";

/**
 * The lowest score at which a label is given. On development data 99 % of right labels lie above it
 * with vectors, and 96 % of sentences about anything else below; with characters 88 % and 76 %.
 */
const THRESHOLDS: Record<LabelKind, number> = { vectors: 0.4, grams: 0.2 };

/** The label nearest to a reply, and what its confidence depends on. */
interface Lead {
  label: unknown;
  score: number;
  /** How far it is ahead of the next label. */
  margin: number;
  /** The same by `LabelScore.even`; negative if another label is ahead there. */
  evenMargin: number;
  /** The number of its examples. */
  examples: number;
  /** The number of labels. */
  labels: number;
}

/** Of labels that are equally near, the first in the batch leads. There must be two at least. */
function readLead(scores: LabelScore[]): Lead {
  const best = scores.reduce((best, scored) => scored.score > best.score ? scored : best);
  const others = scores.filter((scored) => scored !== best);
  const highest = (of: (scored: LabelScore) => number) =>
    others.reduce((highest, scored) => Math.max(highest, of(scored)), -Infinity);
  return {
    label: best.label,
    score: best.score,
    margin: best.score - highest(({ score }) => score),
    evenMargin: best.even - highest(({ even }) => even),
    examples: best.examples,
    labels: scores.length,
  };
}

/**
 * Fitted by logistic regression to 6,600 labelled replies: paraphrases of references, replies that
 * share their subject but carry another label, and unseen questions, with 1 to 8 examples for each
 * of 2 to 30 labels. `deno task bench label-quality` shows how well it holds.
 */
const WEIGHTS: Record<LabelKind, { margin: number; labels: number; evenMargin: number }> = {
  vectors: { margin: 3.2, labels: -0.22, evenMargin: 5.4 },
  grams: { margin: 4.6, labels: -0.39, evenMargin: 10.4 },
};

/**
 * A label that lags behind by more than this without the turn's own reference loses no more: a reply
 * in almost the words of its reference has its label, whatever the other examples say.
 */
const LARGEST_LAG = 0.15;

/** The chance that the leading label is right: 0.5 if two labels are equally near, less if more are. */
function confidenceIn(lead: Lead, kind: LabelKind): number {
  const weights = WEIGHTS[kind];
  const logOdds = weights.margin * Math.sqrt(lead.margin) +
    weights.labels * Math.log(lead.labels / 2) +
    (lead.examples > 1 ? weights.evenMargin * Math.max(-LARGEST_LAG, lead.evenMargin) : 0);
  return 1 / (1 + Math.exp(-logOdds));
}
