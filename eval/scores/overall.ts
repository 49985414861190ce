import type { Scores } from "../../shared/schemas/evaluate.ts";
import { mean } from "../statistics.ts";

/** What the headline is made of, each with the same weight. */
export const HEADLINE = ["semantic_similarity", "metadata_match", "judge"];

/**
 * The headline: the mean of `semantic_similarity`, `metadata_match` and `judge`, of those that the
 * reply has; `null` where it has none. Scores of form stay out of it: a right answer in other words
 * is right.
 */
export function overall(scores: Scores): number | null {
  const parts = HEADLINE.map((name) => scores[name]);
  return mean(parts.filter((value) => typeof value === "number"));
}
