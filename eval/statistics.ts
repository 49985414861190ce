import type { Scores } from "../shared/schemas/evaluate.ts";

/** The mean of some numbers; `null` of none. */
export function mean(values: number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The mean of each score over those that have one. A score that applies nowhere is `null`; names
 * keep the order in which they were first met.
 */
export function averageScores(all: Scores[]): Scores {
  const names = new Set(all.flatMap((scores) => Object.keys(scores)));
  const average = (name: string) =>
    mean(all.map((scores) => scores[name]).filter((value) => typeof value === "number"));
  return Object.fromEntries([...names].map((name) => [name, average(name)]));
}
