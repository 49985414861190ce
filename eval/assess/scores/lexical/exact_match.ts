import { squadForm } from "../../text/squad_tokens.ts";
import { MAX_PAIR_CHARACTERS, type PairScorer } from "../score.ts";

/**
 * 1 if both texts are the same after SQuAD v1.1 normalisation, else 0.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(exactMatch("The capital is Paris.", "capital is paris"), 1);
 * assertEquals(exactMatch("Paris", "Lyon"), 0);
 * ```
 */
export function exactMatch(reply: string, reference: string): number {
  return squadForm(reply) === squadForm(reference) ? 1 : 0;
}

/** Its line in the table. */
export const exactMatchScorer: PairScorer = {
  name: "exact_match",
  definition: "1 if both texts are the same after normalisation, else 0",
  range: [0, 1],
  method: "lower-case, ASCII punctuation and a/an/the out",
  equals: "SQuAD v1.1 evaluation script",
  longest: MAX_PAIR_CHARACTERS,
  compare: exactMatch,
};
