import { mean } from "../score/mean.ts";
import type { PassRates, RunPassRates } from "../test/statistics.ts";
import { ofSample } from "./summary/statistics.ts";
import { ROUNDING } from "../test/rounding.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import { isBarred } from "../test/barred.ts";
import type { IndexedTurn, TurnOutcome } from "../store/list_query.ts";

/** The score that decides whether something passes. */
export const HEADLINE = "overall";

/** The threshold if the request has none. */
export const DEFAULT_PASS_THRESHOLD = 0.7;

/** Allows for rounding: the mean of three turns of 0.7 is 0.6999999999999998. */
export function reaches(score: number, threshold: number): boolean {
  return score >= threshold - ROUNDING;
}

/** What became of an attempt; `unscored` if none of its turns has a score to pass by. */
export type Standing = "passed" | "failed" | "unscored";

/** An attempt passes if all its turns do: a failed call and a missing score are no pass. */
export function standingOf(outcomes: Iterable<TurnOutcome>): Standing {
  const found = new Set(outcomes);
  if (found.has("below") || found.has("failed") || found.has("missing")) return "failed";
  return found.has("passed") ? "passed" : "unscored";
}

/** Scored attempts at one question, and those that passed. */
export interface PassCounts {
  attempts: number;
  passed: number;
}

/** Attempts without a score are not counted. */
export function countPasses(standings: Standing[]): PassCounts {
  return {
    attempts: standings.filter((standing) => standing !== "unscored").length,
    passed: standings.filter((standing) => standing === "passed").length,
  };
}

/**
 * How reliably a scenario is passed. `pass_at_k` estimates the chance that at least one of k
 * attempts passes, `pass_hat_k` that all k do. Both are unbiased, over all choices of k of the
 * attempts.
 */
export function passRates({ attempts, passed }: PassCounts, threshold: number): PassRates {
  const rates = ratesOfK(passed, attempts);
  return {
    pass_threshold: threshold,
    pass_rate: attempts === 0 ? null : passed / attempts,
    pass_at_k: rates.at,
    pass_hat_k: rates.hat,
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
  const rates = { at: new Map<string, number[]>(), hat: new Map<string, number[]>() };
  for (const { attempts, passed } of scored) {
    const found = ratesOfK(passed, attempts);
    for (const kind of ["at", "hat"] as const) {
      for (const [k, rate] of Object.entries(found[kind])) {
        rates[kind].getOrInsertComputed(k, () => []).push(rate);
      }
    }
  }
  const ofEachK = (kind: "at" | "hat") =>
    Object.fromEntries(
      [...rates[kind]].map(([k, all]) => [k, { n: all.length, mean: mean(all)! }]),
    );
  const sums = scored.map(({ attempts, passed }) => ({ sum: passed, count: attempts }));
  const { ci95, ci95_reason } = ofSample(sums, "scenario");
  const first = ofEachK("at")["1"];
  return {
    pass_threshold: threshold,
    pass_rate: first ? { ...first, ci95, ...(ci95_reason && { ci95_reason }) } : null,
    pass_at_k: ofEachK("at"),
    pass_hat_k: ofEachK("hat"),
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
