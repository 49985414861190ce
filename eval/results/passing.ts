import type { PassRates, RunPassRates, Statistic } from "../schemas/statistics.ts";
import { ofSample } from "./statistics.ts";
import { ROUNDING } from "../schemas/rounding.ts";
import type { InteractionResult } from "../schemas/interaction_result.ts";
import { isBarred } from "../schemas/barred.ts";
import type { IndexedTurn, TurnOutcome } from "../store/runs/list_query.ts";

/** The score that decides whether something passes. */
export const HEADLINE = "overall";

/** The threshold if the request has none. */
export const DEFAULT_PASS_THRESHOLD = 0.7;

/** Allows for rounding: the mean of three turns of 0.7 is 0.6999999999999998. */
export function reaches(score: number, threshold: number): boolean {
  return score >= threshold - ROUNDING;
}

/** `missing`: it depends on missing values. */
export type Standing = "passed" | "below" | "missing" | "unscored";

/** The mean and its bounds if unanswered calls could have had any score. */
export function ifAnswered(
  statistic: Pick<Statistic, "mean" | "bounds" | "error_bounds"> | undefined,
): Pick<Statistic, "mean" | "bounds"> | undefined {
  return statistic && { mean: statistic.mean, bounds: statistic.error_bounds ?? statistic.bounds };
}

/** Compares a mean with a threshold, for all possible missing values. */
export function holdAgainst(
  statistic: Pick<Statistic, "mean" | "bounds"> | undefined,
  threshold: number,
): Standing {
  const { mean = null, bounds = null } = statistic ?? {};
  if (bounds) {
    if (reaches(bounds[0], threshold)) return "passed";
    return reaches(bounds[1], threshold) ? "missing" : "below";
  }
  if (mean === null) return "unscored";
  return reaches(mean, threshold) ? "passed" : "below";
}

/** Whether a turn is barred, and whether it is unknown for a turn; see `isBarred`. */
export interface Bars {
  isBarred?: boolean;
  mayBeBarred?: boolean;
}

/** A mean, and how many of its turns failed. */
type CountedMean =
  & Pick<Statistic, "mean" | "bounds">
  & Partial<Pick<Statistic, "turns" | "failed">>;

/**
 * The same with turns that are barred, or may be barred. If no call was answered, nothing passes,
 * not even with a threshold of 0.
 */
export function holdWithBars(
  statistic: CountedMean | undefined,
  { threshold, isBarred, mayBeBarred }: Bars & { threshold: number },
): Standing {
  const { turns = 0, failed = 0 } = statistic ?? {};
  if (isBarred || (turns > 0 && failed === turns)) return "below";
  const standing = holdAgainst(statistic, threshold);
  return standing === "passed" && mayBeBarred ? "missing" : standing;
}

/** An attempt's `overall` and the bars of its turns; `undefined` if it has no `overall`. */
export type AttemptOverall = CountedMean & Bars | undefined;

/** Attempts at one question: all, passed, and unknown because of missing values. */
export interface PassCounts {
  attempts: number;
  passed: number;
  missing: number;
}

/** Attempts without an `overall` are not counted. */
export function countPasses(overall: AttemptOverall[], threshold: number): PassCounts {
  const standings = overall.map((attempt) => holdWithBars(attempt, { ...attempt, threshold }));
  const count = (wanted: Standing) => standings.filter((standing) => standing === wanted).length;
  return {
    attempts: standings.length - count("unscored"),
    passed: count("passed"),
    missing: count("missing"),
  };
}

/**
 * How reliably a scenario is passed. `pass_at_k` estimates the chance that at least one of k
 * attempts passes, `pass_hat_k` that all k do. Both are unbiased, over all choices of k of the
 * attempts.
 */
export function passRates(
  { attempts, passed, missing }: PassCounts,
  threshold: number,
): PassRates {
  const rates = ratesOfK(passed, attempts);
  const known = (of: Record<string, number>) =>
    missing === 0 ? of : Object.fromEntries(Object.keys(of).map((k) => [k, null]));
  return {
    pass_threshold: threshold,
    pass_rate: attempts === 0 || missing > 0 ? null : passed / attempts,
    ...(missing > 0 && {
      pass_rate_bounds: [passed / attempts, (passed + missing) / attempts],
    }),
    pass_at_k: known(rates.at),
    pass_hat_k: known(rates.hat),
    pass_rate_missing: missing,
  };
}

function ratesOfK(passed: number, attempts: number) {
  const at: Record<string, number> = {};
  const hat: Record<string, number> = {};
  let noneOf = 1; // C(n − c, k) / C(n, k), factor by factor, so that no factorial overflows
  let allOf = 1; // C(c, k) / C(n, k)
  for (let k = 1; k <= attempts; k++) {
    const left = attempts - k + 1;
    noneOf *= Math.max(0, attempts - passed - k + 1) / left;
    allOf *= Math.max(0, passed - k + 1) / left;
    at[k] = 1 - noneOf;
    hat[k] = allOf;
  }
  return { at, hat };
}

/** The pass rates of a run: means over its questions. */
export function runPassRates(questions: PassCounts[], threshold: number): RunPassRates {
  const scored = questions.filter(({ attempts }) => attempts > 0);
  const sums = { at: new Map<string, RateSums>(), hat: new Map<string, RateSums>() };
  for (const { attempts, passed, missing } of scored) {
    const low = ratesOfK(passed, attempts);
    const high = missing === 0 ? low : ratesOfK(passed + missing, attempts);
    for (const kind of ["at", "hat"] as const) {
      for (const k in low[kind]) {
        const sum = sums[kind].getOrInsertComputed(k, () => ({ low: 0, high: 0, count: 0 }));
        sum.low += low[kind][k]!;
        sum.high += high[kind][k]!;
        sum.count++;
      }
    }
  }
  const ofEachK = (kind: "at" | "hat") =>
    Object.fromEntries([...sums[kind]].map(([k, sum]) => [k, meanRate(sum)]));
  const rates = scored.map(({ attempts, passed, missing }) => ({
    low: passed,
    high: passed + missing,
    count: attempts,
  }));
  const { ci95, ci95_reason } = ofSample(rates, "scenario");
  const first = sums.at.get("1");
  return {
    pass_threshold: threshold,
    pass_rate: first ? { ...meanRate(first), ci95, ...(ci95_reason && { ci95_reason }) } : null,
    pass_at_k: ofEachK("at"),
    pass_hat_k: ofEachK("hat"),
    pass_rate_missing: scored.reduce((sum, { missing }) => sum + missing, 0),
  };
}

interface RateSums {
  low: number;
  high: number;
  count: number;
}

function meanRate({ low, high, count }: RateSums): RunPassRates["pass_at_k"][string] {
  const isKnown = low === high;
  return {
    n: count,
    mean: isKnown ? low / count : null,
    bounds: isKnown ? null : [low / count, high / count],
  };
}

/** The outcome of a turn for a threshold in [0, 1]. */
export function outcomeOf(
  turn: Pick<InteractionResult, "error" | "scores" | "missing_scores" | "check_results">,
  threshold: number,
): TurnOutcome {
  const overall = turn.scores[HEADLINE] ?? null;
  const missing = Boolean(turn.missing_scores?.[HEADLINE]);
  const failed = Boolean(turn.error);
  return decide({ failed, missing, overall, isBarred: isBarred(turn) }, threshold);
}

/** The same from an indexed turn. */
export function listedOutcomeOf(turn: IndexedTurn, threshold: number): TurnOutcome {
  return decide({ ...turn, isBarred: turn.facets.barred_by !== undefined }, threshold);
}

function decide(
  { failed, missing, overall, isBarred }:
    & Pick<IndexedTurn, "failed" | "missing" | "overall">
    & { isBarred: boolean },
  threshold: number,
): TurnOutcome {
  if (failed) return "failed";
  if (isBarred) return "below";
  if (overall === null) return missing ? "missing" : "unscored";
  return reaches(overall, threshold) ? "passed" : "below";
}

/** The threshold of a run's request, or the default. */
export function thresholdOf(request: Record<string, unknown>): number {
  const { pass_threshold } = request;
  return typeof pass_threshold === "number" ? pass_threshold : DEFAULT_PASS_THRESHOLD;
}
