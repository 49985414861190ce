import type { LabelScore } from "./label_index.ts";

/** What labels are compared by. */
export type LabelKind = "vectors" | "grams";

/**
 * The lowest score at which a label is given. On development data 99 % of right labels lie above it
 * with vectors, and 96 % of sentences about anything else below; with characters 88 % and 76 %.
 */
export const THRESHOLDS: Record<LabelKind, number> = { vectors: 0.4, grams: 0.2 };

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
export function readLead(scores: LabelScore[]): Lead {
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
export function confidenceIn(lead: Lead, kind: LabelKind): number {
  const weights = WEIGHTS[kind];
  const logOdds = weights.margin * Math.sqrt(lead.margin) +
    weights.labels * Math.log(lead.labels / 2) +
    (lead.examples > 1 ? weights.evenMargin * Math.max(-LARGEST_LAG, lead.evenMargin) : 0);
  return 1 / (1 + Math.exp(-logOdds));
}
