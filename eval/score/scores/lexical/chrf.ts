import { splitBlanks } from "../../words.ts";
import { sharedNgrams } from "../../text/overlap.ts";
import {
  MAX_PAIR_CHARACTERS,
  type PairScorer,
  scoreOfEmpty,
  scoreOfWordless,
} from "../../score.ts";

const MAX_ORDER = 6;
const BETA_SQUARED = 4;

/**
 * chrF2 as sacreBLEU computes it, divided by 100: character 1- to 6-grams without blanks, recall
 * weighing twice as much as precision, orders averaged before the F-score.
 */
export function chrf(reply: string, reference: string): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  if (reply === reference) return 1; // frequent, and the slowest pair to compute
  const found = Array.from(splitBlanks(reply).join(""));
  const wanted = Array.from(splitBlanks(reference).join(""));
  if (found.length === 0 && wanted.length === 0) return scoreOfWordless(reply, reference);

  const orders = Math.min(MAX_ORDER, found.length, wanted.length);
  let precision = 0;
  let recall = 0;
  for (const [index, shared] of sharedNgrams(found, wanted, orders).entries()) {
    precision += shared / (found.length - index);
    recall += shared / (wanted.length - index);
  }
  if (precision + recall === 0) return 0;
  precision /= orders; // at the end: six times 1/6 is less than 1 in floating point
  recall /= orders;
  return Math.min(
    1,
    (1 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall),
  );
}

export const chrfScorer: PairScorer = {
  name: "chrf",
  definition: "chrF2: F-score over character 1- to 6-grams, recall counting twice",
  range: [0, 1],
  method: "code points, blanks out",
  equals: "sacreBLEU 2.6.0 chrF2 / 100",
  longest: MAX_PAIR_CHARACTERS,
  compare: chrf,
};
