import { countItems, countShared, f1 } from "../../text/overlap.ts";
import { squadTokens } from "../../text/squad_tokens.ts";
import { MAX_PAIR_CHARACTERS, type PairScorer } from "../score.ts";

/**
 * F1 over the bags of SQuAD tokens. If normalisation leaves nothing of both ("The" and "A"), they
 * match exactly and so score 1, as in SQuAD's v2.0 script; v1.1 gives 0.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * // Two of three words are wanted, and both wanted words are there: 2 · (2/3 · 1) / (2/3 + 1)
 * assertEquals(tokenF1("in Paris, France", "Paris, France"), 0.8);
 * ```
 */
export function tokenF1(reply: string, reference: string): number {
  const found = squadTokens(reply);
  const wanted = squadTokens(reference);
  if (found.length === 0 && wanted.length === 0) return 1;
  return f1(countShared(countItems(found), countItems(wanted)), {
    found: found.length,
    wanted: wanted.length,
  });
}

/** Its line in the table. */
export const tokenF1Scorer: PairScorer = {
  name: "token_f1",
  definition: "F1 over the bags of normalised tokens",
  range: [0, 1],
  method: "tokens as in exact_match; text in a script without spaces is cut by dictionary",
  equals: "SQuAD v1.1 evaluation script, on text with spaces",
  longest: MAX_PAIR_CHARACTERS,
  compare: tokenF1,
};
