import type { Scenario } from "../test/scenario.ts";
import type { BatchSemantics } from "./batch_semantics.ts";
import { type KeyAnnotator, type LabelExample, noLabel } from "./metadata/annotator.ts";
import { collectExamples, type LabelGroup, spreadSample } from "./metadata/label.ts";
import { createLabelIndex, type LabelScore } from "./metadata/label_index.ts";

/** The method of labels that are found by sentence vectors. */
export const FEW_SHOT = "few_shot";

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
  key: string,
  { scenarios, semantics }: { scenarios: Scenario[]; semantics: BatchSemantics },
) {
  const groups = collectExamples(key, scenarios);
  const examples = groups.flatMap(({ examples }) => examples);
  if (groups.filter(({ examples }) => examples.length > 0).length < 2) return undefined;
  const index = createLabelIndex({ groups, semantics });

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
