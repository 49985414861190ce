import { splitBlanks } from "../../text/blanks.ts";
import { NgramIds } from "../../text/ngram_ids.ts";
import { MAX_PAIR_CHARACTERS, type PairScorer, scoreOfEmpty, scoreOfWordless } from "../score.ts";

const MAX_ORDER = 6;
const BETA_SQUARED = 4;

/**
 * chrF2 as sacreBLEU computes it, divided by 100: character 1- to 6-grams without blanks, recall
 * weighing twice as much as precision, orders averaged before the F-score.
 */
export function chrf(reply: string, reference: string): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  const found = codePoints(splitBlanks(reply).join(""));
  const wanted = codePoints(splitBlanks(reference).join(""));
  if (found.length === 0 && wanted.length === 0) return scoreOfWordless(reply, reference);

  const orders = Math.min(MAX_ORDER, found.length, wanted.length);
  let precision = 0;
  let recall = 0;
  const pair = NgramIds.ofNumbers(found, wanted);
  for (let order = 1; order <= orders; order++) {
    const shared = pair.countShared();
    precision += shared / (found.length - order + 1);
    recall += shared / (wanted.length - order + 1);
    pair.lengthen();
  }
  if (precision + recall === 0) return 0;
  precision /= orders; // at the end: a sixth six times over is less than 1
  recall /= orders;
  return Math.min(
    1,
    (1 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall),
  );
}

/** A text's code points; a lone half of a surrogate pair counts as one. */
function codePoints(text: string): number[] {
  const points: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i)!;
    if (point > 0xffff) i++;
    points.push(point);
  }
  return points;
}

/** Its line in the table. */
export const chrfScorer: PairScorer = {
  name: "chrf",
  definition: "chrF2: F-score over character 1- to 6-grams, recall counting twice",
  range: [0, 1],
  method: "code points, blanks out",
  equals: "sacreBLEU 2.6.0 chrF2 / 100",
  longest: MAX_PAIR_CHARACTERS,
  compare: chrf,
};
