import type { Scenario } from "../../test/scenario.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { KeyAnnotator, KeyPlan, LabelExample } from "./annotator.ts";
import { ACT_COUNT, createDialogueActAnnotator } from "./dialogue_act.ts";
import { areMostly, collectExamples, isSameLabel, type LabelGroup, spreadSample } from "./label.ts";
import { createFewShot } from "./label_index.ts";
import {
  areSentiments,
  createSentimentAnnotator,
  SENTIMENT_COUNT,
  type SentimentModel,
} from "./sentiment.ts";
import { labelKey, type SelfCheck } from "../../test/labels.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import { countItems } from "../text/overlap.ts";

/** References to check an annotator with that does not learn from them. */
const CHECKED = 100;
/**
 * The least number of references for leave-one-out to reject the batch's examples. With fewer, too
 * much depends on the one left out, and replies mostly resemble their own reference.
 */
const ENOUGH_EXAMPLES = 8;
/** The least number of references that may replace the sentiment model. */
const ENOUGH_SENTIMENTS = 20;

interface PlanOptions {
  scenarios: Scenario[];
  semantics: BatchSemantics;
  sentiment: SentimentModel;
}

/**
 * Decides how a key is labelled, and checks it with the batch's own references. Depends only on the
 * batch and the configuration, so that two runs of one batch decide alike. Rejects if the check
 * needs the encoder and that is unavailable.
 */
export async function planKey(key: string, options: PlanOptions): Promise<KeyPlan> {
  const groups = collectExamples(key, options.scenarios);
  const labels = new Map(groups.map(({ label }) => [labelKey(label), label]));
  if (areSentiments(key, labels.keys())) return await planSentiment(groups, labels, options);
  if (groups.length === 1) return await planSingle(groups, options);
  const fewShot = createFewShot(groups, options.semantics);
  if (fewShot) return await check({ ...fewShot, enough: ENOUGH_EXAMPLES });
  return refuse("few_shot", "fewer than two labels have a reference reply to learn from");
}

/**
 * Uses the model if it labels the references correctly. Uses the batch's own examples only if there
 * are many, and they label each other correctly and better than the model: nearness is mostly about
 * subjects, so learning a sentiment takes many examples.
 */
async function planSentiment(
  groups: LabelGroup[],
  labels: Map<string, unknown>,
  { semantics, sentiment }: PlanOptions,
): Promise<KeyPlan> {
  const references = groups.flatMap(({ examples }) => examples);
  const isKnown = sentiment.encoder === semantics.embedder.method;
  const model = isKnown && await areMostly(references, semantics.isEnglish)
    ? createSentimentAnnotator({ labels, semantics, model: sentiment })
    : undefined;
  const checkable = spreadSample(references, CHECKED);
  const ours = model
    ? await check({ annotator: model, checkable, labels: SENTIMENT_COUNT })
    : refuse("sentiment_model", "the sentiment model is for English and its own encoder");
  const fewShot = createFewShot(groups, semantics);
  if (!fewShot || fewShot.checkable.length < ENOUGH_SENTIMENTS) return ours;
  const theirs = await check(fewShot);
  const accuracy = theirs.selfCheck?.accuracy ?? 0;
  const isLearnt = accuracy >= theirs.selfCheck!.floor;
  return isLearnt && accuracy > (ours.selfCheck?.accuracy ?? 0) ? theirs : ours;
}

async function planSingle(groups: LabelGroup[], { semantics }: PlanOptions): Promise<KeyPlan> {
  const { label, examples: references } = groups[0]!;
  const annotator = createDialogueActAnnotator(label, semantics);
  if (!annotator) {
    return refuse("dialogue_act_rules", "the batch has one label and there is no rule for it");
  }
  if (!await areMostly(references, semantics.isEnglish)) {
    return refuse(annotator.method, "the batch has one label, and the rules for it are English");
  }
  return await check({
    annotator,
    checkable: spreadSample(references, CHECKED),
    labels: ACT_COUNT,
  });
}

/** `labels` is how many the annotator chooses from; fewer than `enough` references cannot reject it. */
async function check(
  { annotator, checkable, labels, enough = 1 }: {
    annotator: KeyAnnotator;
    checkable: LabelExample[];
    labels: number;
    enough?: number;
  },
): Promise<KeyPlan> {
  const selfCheck = await checkAnnotator(annotator, { examples: checkable, labels });
  const { method } = annotator;
  if (selfCheck.of < enough || !failsCheck(selfCheck)) return { method, selfCheck, annotator };
  const { right, of, floor } = selfCheck;
  const reason = `only ${right} of ${of} references of this batch are labelled correctly, ` +
    `and a share of ${floor.toFixed(2)} is needed`;
  return { method, selfCheck, annotator: undefined, reason };
}

function refuse(method: string, reason: string): KeyPlan {
  return { method, selfCheck: null, annotator: undefined, reason };
}

/** 95 %, one-sided. */
const Z = 1.645;

/**
 * Counts how many references of the batch an annotator labels correctly. `labels` is the number of
 * labels it chooses from.
 */
export async function checkAnnotator(
  annotator: Pick<KeyAnnotator, "relabel">,
  { examples, labels }: { examples: LabelExample[]; labels: number },
): Promise<SelfCheck> {
  const yieldIfDue = createYielder();
  let right = 0;
  for (const example of examples) {
    const found = await annotator.relabel(example);
    if (found !== undefined && isSameLabel(found, example.label)) right++;
    await yieldIfDue();
  }
  return {
    right,
    of: examples.length,
    accuracy: examples.length === 0 ? null : right / examples.length,
    floor: floorFor(examples, labels),
  };
}

/**
 * Halfway between the accuracy of guessing and 1. Guessing is to choose the most frequent label, or
 * any label at random if the references have only one.
 */
function floorFor(examples: LabelExample[], labels: number): number {
  const counts = countItems(examples.map(({ label }) => labelKey(label)));
  const most = Math.max(...counts.values()) / examples.length;
  const guess = counts.size > 1 ? most : 1 / Math.max(2, labels);
  return (1 + guess) / 2;
}

/**
 * Whether the labels cannot be trusted: the upper bound of the accuracy (Wilson, one-sided 95 %) is
 * below the floor.
 */
export function failsCheck({ right, of, floor }: SelfCheck): boolean {
  return of > 0 && wilsonUpper(right, of) < floor;
}

function wilsonUpper(right: number, of: number): number {
  const share = right / of;
  const square = Z ** 2 / of;
  const spread = Z * Math.sqrt(share * (1 - share) / of + square / (4 * of));
  return (share + square / 2 + spread) / (1 + square);
}
