import { bleu } from "./bleu.ts";
import { chrf } from "./chrf.ts";
import { editSimilarity, MAX_EDIT_CHARACTERS } from "./edit_similarity.ts";
import { exactMatch } from "./exact_match.ts";
import { rouge1, rouge2, rougeL } from "./rouge.ts";
import type { PairScorer } from "./score.ts";
import { tokenF1 } from "./token_f1.ts";

const RANGE: [number, number] = [0, 1];
const SQUAD = "SQuAD v1.1 evaluation script";
const ROUGE = "Google rouge_score without stemmer, on ASCII text";
const WORDS =
  "words: NFKC, lower-case, runs of letters, marks and digits; scripts without spaces " +
  "are cut by dictionary; an emoji is a word";

/**
 * The longest text that any pair score takes, in characters. All scores of two such texts take one to
 * two seconds of a processor; a megabyte would take minutes and gigabytes, and a worker that runs
 * out of memory ends the process.
 */
export const MAX_PAIR_CHARACTERS = 200_000;
/** The time of `rouge_l` grows with the product of the lengths. */
const MAX_ROUGE_L_CHARACTERS = 80_000;

/** Every score that compares two texts as they stand, in the order in which they are reported. */
export const pairScorers: readonly PairScorer[] = [
  {
    name: "exact_match",
    definition: "1 where both texts are the same after normalisation, else 0",
    range: RANGE,
    method: "lower-case, ASCII punctuation and a/an/the out",
    equals: SQUAD,
    longest: MAX_PAIR_CHARACTERS,
    compare: exactMatch,
  },
  {
    name: "token_f1",
    definition: "F1 over the bags of normalised tokens",
    range: RANGE,
    method: "tokens as in exact_match; text in a script without spaces is cut by dictionary",
    equals: `${SQUAD}, on text with spaces`,
    longest: MAX_PAIR_CHARACTERS,
    compare: tokenF1,
  },
  {
    name: "rouge_1",
    definition: "F1 over the bags of words",
    range: RANGE,
    method: WORDS,
    equals: ROUGE,
    longest: MAX_PAIR_CHARACTERS,
    compare: rouge1,
  },
  {
    name: "rouge_2",
    definition: "F1 over the bags of word pairs; 0 where a side has one word",
    range: RANGE,
    method: WORDS,
    equals: ROUGE,
    longest: MAX_PAIR_CHARACTERS,
    compare: rouge2,
  },
  {
    name: "rouge_l",
    definition: "F1 over the longest common subsequence of words; null above 80,000 characters",
    range: RANGE,
    method: WORDS,
    equals: ROUGE,
    longest: MAX_ROUGE_L_CHARACTERS,
    compare: rougeL,
  },
  {
    name: "bleu",
    definition: "sentence BLEU: precision of 1- to 4-grams, with a penalty for a short reply",
    range: RANGE,
    method: "13a tokens, exponential smoothing, effective order",
    equals: "sacreBLEU 2.6.0 / 100",
    longest: MAX_PAIR_CHARACTERS,
    compare: bleu,
  },
  {
    name: "chrf",
    definition: "chrF2: F-score over character 1- to 6-grams, recall counting twice",
    range: RANGE,
    method: "code points, blanks out",
    equals: "sacreBLEU 2.6.0 chrF2 / 100",
    longest: MAX_PAIR_CHARACTERS,
    compare: chrf,
  },
  {
    name: "edit_similarity",
    definition: "1 − Levenshtein distance / longer length; null above 80,000 characters",
    range: RANGE,
    method: "code points after NFC",
    longest: MAX_EDIT_CHARACTERS,
    compare: editSimilarity,
  },
];
