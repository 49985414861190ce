import type { PassRates, RunPassRates, Statistic } from "../schemas/statistics.ts";
import { aggregateScores } from "./statistics.ts";
import type { Steps } from "./steps.ts";
import { ROUNDING } from "../../shared/rounding.ts";

/** The score that decides whether something passes. */
export const HEADLINE = "overall";

/** The threshold if the request has none. */
export const DEFAULT_PASS_THRESHOLD = 0.7;

/** Whether a score is good enough. Three turns of 0.7 have a mean of 0.6999999999999998: it is. */
export function reaches(score: number, threshold: number): boolean {
  return score >= threshold - ROUNDING;
}

/** `undecided`: values are missing, and it depends on them. */
export type Standing = "passed" | "below" | "undecided" | "unscored";

/** Where a mean lies if the failed calls had been answered; with what is missing in any case. */
export function ifAnswered(
  statistic: Pick<Statistic, "mean" | "bounds" | "error_bounds"> | undefined,
): Pick<Statistic, "mean" | "bounds"> | undefined {
  return statistic && { mean: statistic.mean, bounds: statistic.error_bounds ?? statistic.bounds };
}

/** Compares a mean with a threshold, for every possible value of what is missing. */
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

/** Whether some turns are barred, and whether that is not known of one; see `isBarred`. */
export interface Bars {
  isBarred?: boolean;
  mayBeBarred?: boolean;
}

/** A mean, and how many of its turns failed. */
type CountedMean =
  & Pick<Statistic, "mean" | "bounds">
  & Partial<Pick<Statistic, "turns" | "failed">>;

/**
 * The same with turns that cannot pass whatever their scores are, or perhaps cannot. If no call was
 * answered, nothing has passed, also with a threshold of 0.
 */
export function holdWithBars(
  statistic: CountedMean | undefined,
  { threshold, isBarred, mayBeBarred }: Bars & { threshold: number },
): Standing {
  const { turns = 0, failed = 0 } = statistic ?? {};
  if (isBarred || (turns > 0 && failed === turns)) return "below";
  const standing = holdAgainst(statistic, threshold);
  return standing === "passed" && mayBeBarred ? "undecided" : standing;
}

/** What is known of an attempt's `overall`, and of its turns; `undefined` if it has none. */
export type AttemptOverall = CountedMean & Bars | undefined;

/**
 * How reliably a scenario is passed, from its attempts' `overall`. `pass_at_k` estimates the chance
 * that at least one of k attempts passes, `pass_hat_k` that all k do; both without bias, from every
 * choice of k among the attempts. An attempt without an `overall` does not take part, and one that
 * depends on missing values, or on a required check that could not be decided, is counted as
 * undecided.
 */
export function passRates(overall: AttemptOverall[], threshold: number): PassRates {
  const standings = overall.map((attempt) => holdWithBars(attempt, { ...attempt, threshold }));
  const count = (wanted: string) => standings.filter((standing) => standing === wanted).length;
  const passed = count("passed");
  const attempts = passed + count("below");
  const pass_at_k: Record<string, number> = {};
  const pass_hat_k: Record<string, number> = {};
  let noneOf = 1; // C(n − c, k) / C(n, k), grown factor by factor: no factorial overflows
  let allOf = 1; // C(c, k) / C(n, k)
  for (let k = 1; k <= attempts; k++) {
    const left = attempts - k + 1;
    noneOf *= Math.max(0, attempts - passed - k + 1) / left;
    allOf *= Math.max(0, passed - k + 1) / left;
    pass_at_k[k] = 1 - noneOf;
    pass_hat_k[k] = allOf;
  }
  return {
    pass_threshold: threshold,
    pass_rate: attempts === 0 ? null : passed / attempts,
    pass_at_k,
    pass_hat_k,
    undecided: count("undecided"),
  };
}

/**
 * The pass rates of a run: means over its scenarios with their intervals. In steps of one k:
 * scenarios and attempts may both be a thousand.
 */
export function* passRatesInSteps(scenarios: PassRates[]): Steps<RunPassRates> {
  function* ofEachK(pick: (rates: PassRates) => Record<string, number>) {
    const names = new Set(scenarios.flatMap((rates) => Object.keys(pick(rates))));
    yield;
    const means: RunPassRates["pass_at_k"] = {};
    for (const k of names) {
      means[k] = meanOver(scenarios.map((rates) => pick(rates)[k] ?? null))!;
      yield;
    }
    return means;
  }
  return {
    pass_threshold: scenarios[0]?.pass_threshold ?? DEFAULT_PASS_THRESHOLD,
    pass_rate: meanOver(scenarios.map(({ pass_rate }) => pass_rate)),
    pass_at_k: yield* ofEachK(({ pass_at_k }) => pass_at_k),
    pass_hat_k: yield* ofEachK(({ pass_hat_k }) => pass_hat_k),
    undecided: scenarios.reduce((sum, { undecided }) => sum + undecided, 0),
  };
}

/** A scenario with `null` does not take part; `null` if none does. */
function meanOver(rates: (number | null)[]): RunPassRates["pass_rate"] {
  const turns = rates.map((rate, cluster) => ({ scores: { rate }, failed: false, cluster }));
  const { n, mean, ci95 } = aggregateScores(turns).statistics.rate ?? { n: 0, mean: null };
  return mean === null ? null : { n, mean, ci95: ci95 ?? null };
}
