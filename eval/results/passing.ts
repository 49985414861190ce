import type { Statistic } from "../../shared/schemas/evaluate.ts";

/** The score that decides whether something passes. */
export const HEADLINE = "overall";

/** At which value of the headline something passes where the request does not say. */
export const DEFAULT_PASS_THRESHOLD = 0.7;

/** More than adding up and dividing can lose, and less than any two scores differ by. */
const ROUNDING = 1e-12;

/** Whether a score is good enough. Three turns of 0.7 have a mean of 0.6999999999999998: it is. */
export function reaches(score: number, threshold: number): boolean {
  return score >= threshold - ROUNDING;
}

/** `undecided`: values are missing, and it depends on them. */
export type Standing = "passed" | "below" | "undecided" | "unscored";

/** Where a mean stands, whatever its missing values would have been. */
export function holdAgainst(
  statistic: Pick<Statistic, "mean" | "bounds"> | undefined,
  threshold: number,
): Standing {
  const { mean = null, bounds = null } = statistic ?? {};
  if (bounds) {
    if (reaches(bounds[0], threshold)) return "passed";
    return reaches(bounds[1], threshold) ? "undecided" : "below";
  }
  if (mean === null) return "unscored";
  return reaches(mean, threshold) ? "passed" : "below";
}
