import { sharedNgrams } from "../../text/overlap.ts";
import { MAX_PAIR_CHARACTERS, type PairScorer, scoreOfEmpty, scoreOfWordless } from "../score.ts";
import { splitBlanks, trimEndBlanks } from "../../text/words.ts";

const MAX_ORDER = 4;

/**
 * Sentence BLEU as sacreBLEU computes it, divided by 100: 13a tokens, exponential smoothing,
 * effective order. Not symmetric: the reply's precision, with a penalty for a short reply.
 */
export function bleu(reply: string, reference: string): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  const found = bleuTokens(reply);
  const wanted = bleuTokens(reference);
  if (found.length === 0 && wanted.length === 0) return scoreOfWordless(reply, reference);

  const orders = Math.min(MAX_ORDER, found.length);
  let logSum = 0;
  let smoothing = 1;
  let hasMatch = false;
  for (const [index, matched] of sharedNgrams(found, wanted, orders).entries()) {
    const total = found.length - index;
    if (matched > 0) hasMatch = true;
    // The k-th order without a match counts as 1/2^k of a match.
    logSum += Math.log(matched > 0 ? matched / total : 1 / ((smoothing *= 2) * total));
  }
  if (!hasMatch) return 0;
  const brevity = found.length < wanted.length ? Math.exp(1 - wanted.length / found.length) : 1;
  return Math.min(1, brevity * Math.exp(logSum / orders));
}

export const bleuScorer: PairScorer = {
  name: "bleu",
  definition: "sentence BLEU: precision of 1- to 4-grams, with a penalty for a short reply",
  range: [0, 1],
  method: "13a tokens, exponential smoothing, effective order",
  equals: "sacreBLEU 2.6.0 / 100",
  longest: MAX_PAIR_CHARACTERS,
  compare: bleu,
};

/**
 * The 13a tokens of sacreBLEU (mteval-v13a): punctuation marks are tokens, except `.` and `,`
 * between digits and a dash after a letter.
 */
export function bleuTokens(text: string): readonly string[] {
  const line = unescape(
    trimEndBlanks(text).replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " "),
  );
  // sacreBLEU also surrounds blanks with blanks, which makes no difference.
  const spaced = ` ${line} `
    .replace(/[{-~[-`!-&(-+:-@/]/gu, " $& ")
    .replace(/([^0-9])([.,])/gu, "$1 $2 ")
    .replace(/([.,])([^0-9])/gu, " $1 $2")
    .replace(/([0-9])(-)/gu, "$1 $2 ");
  return splitBlanks(spaced);
}

/** In the order of sacreBLEU, which unescapes `&amp;lt;` twice. */
function unescape(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
}
