import type { Detail } from "../results/detail.ts";
import type { Comparison, ScoreComparison } from "./comparison.ts";

/** A comparison without what only `detail=full` has: one verdict, and one p-value. */
export function comparisonInDetail<T extends Comparison>(comparison: T, detail: Detail): T {
  if (detail === "full") return comparison;
  const { verdict_as_counted: _, method: __, ...rest } = comparison;
  const scores = Object.fromEntries(
    Object.entries(comparison.scores).map(([name, score]) => {
      const { p: _, ...withoutP } = score;
      return [name, scoreInDetail(name === comparison.decided_by ? score : withoutP, detail)];
    }),
  );
  return { ...rest, scores } as T;
}

/** The same for one score. */
export function scoreInDetail(score: ScoreComparison, detail: Detail): ScoreComparison {
  if (detail === "full") return score;
  const {
    turns: _,
    turns_without_pair: __,
    missing: ___,
    failed: ____,
    error_bounds: _____,
    ...rest
  } = score;
  return rest;
}
