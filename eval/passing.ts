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
