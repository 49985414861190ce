import { SAME_MEANING, SAME_TEXT } from "../../test/labels.ts";
import { OVERALL_PARTS } from "../../score/score.ts";
import { mean } from "../../score/mean.ts";
import type { LeftOutCounter } from "../comparison.ts";
import { type AttemptTurn, isPlanned } from "../turn_scores.ts";

/** The same turn in both runs, in every attempt. */
export interface TurnPair {
  baseline: AttemptTurn[];
  candidate: AttemptTurn[];
  /** Whether a score has other expectations in the other run; false for all scores if unset. */
  expectsOther?: (score: string) => boolean;
}

/**
 * A score in one attempt: its value, or why there is none, which counts 0. `undefined` if it does
 * not apply, or cannot be compared.
 */
export type Cell = number | "failed" | "missing" | undefined;

/** A score at a turn that both runs plan and compute in the same way, one cell per attempt. */
export type PairedCells = Record<Side, Cell[]> & { pair: TurnPair };

export const SIDES = ["baseline", "candidate"] as const;
export type Side = (typeof SIDES)[number];

/**
 * Methods that result from the reply and are compatible with all others: an empty reply scores 0,
 * and the text of a reference has its labels. Excluding them would exclude the worst and best
 * replies.
 */
const ANY_METHOD: ReadonlySet<string> = new Set(["empty", SAME_TEXT, SAME_MEANING]);
const SHOWN_METHOD = 80;

/**
 * A score at a turn of both runs; `undefined` and noted in `leftOut` if it cannot be compared. Only
 * scores with the same method and the same expectation are compared: `overall` and `metadata_match`
 * are computed again from such parts.
 */
export function pairScore(
  pair: TurnPair,
  score: string,
  leftOut: LeftOutCounter,
): PairedCells | undefined {
  const parts = partsOf(pair, score);
  if (!parts) return pairPlain(pair, score, leftOut);
  const paired = parts.map((part) => pairScore(pair, part, leftOut))
    .filter((cells) => cells !== undefined);
  if (paired.length === 0) {
    const isWanted = SIDES.some((side) => plansScore(pair[side], score));
    if (isWanted) leftOut.add(score, { reason: "no_common_part", turn: pair });
    return undefined;
  }
  return combine(pair, paired);
}

/** The parts of a score that is a mean at this turn; `undefined` if it has none. */
function partsOf(pair: TurnPair, score: string): string[] | undefined {
  const answered = [...pair.baseline, ...pair.candidate].filter(({ failed }) => !failed);
  if (score === "overall") {
    const isWhole = ({ scores }: AttemptTurn) =>
      typeof scores.overall === "number" &&
      OVERALL_PARTS.every((part) => typeof scores[part] !== "number");
    // Missing although all of its parts have values; see `isNearnessToName`.
    const isUndecided = ({ missing }: AttemptTurn) =>
      missing.has("overall") && !OVERALL_PARTS.some((part) => missing.has(part));
    const isPlain = (turn: AttemptTurn) => isWhole(turn) || isUndecided(turn);
    return answered.length === 0 || answered.some(isPlain) ? undefined : [...OVERALL_PARTS];
  }
  if (score !== "metadata_match") return undefined;
  const planned = answered.filter((turn) => isPlanned(turn, score));
  if (planned.length === 0 || planned.some(({ matches }) => matches === null)) return undefined;
  return [...new Set(planned.flatMap(({ matches }) => matches!))];
}

function pairPlain(
  pair: TurnPair,
  score: string,
  leftOut: LeftOutCounter,
): PairedCells | undefined {
  const plans = {
    baseline: plansScore(pair.baseline, score),
    candidate: plansScore(pair.candidate, score),
  };
  if (plans.baseline !== true && plans.candidate !== true) {
    const isZero = SIDES.every((side) =>
      plans[side] === undefined && pair[side].some((turn) => isPlanned(turn, score))
    );
    return isZero ? fill(pair, () => undefined) : undefined;
  }
  for (const side of SIDES) {
    if (plans[side] !== false) continue;
    leftOut.add(score, { reason: `not_in_${side}`, turn: pair });
    return undefined;
  }
  if (plans.baseline && plans.candidate && pair.expectsOther?.(score)) {
    leftOut.add(score, { reason: "other_expectation", turn: pair });
    return undefined;
  }
  const method = commonMethod(pair, score);
  if (method === null) {
    const detail = SIDES.map((side) => [...countMethods(pair[side], score).keys()].join(", "))
      .map((name) => name.slice(0, SHOWN_METHOD)).join(" / ");
    leftOut.add(score, { reason: "other_method", detail, turn: pair });
    return undefined;
  }
  return fill(pair, ({ scores, missing, methods }) => {
    const value = scores[score];
    if (typeof value !== "number") return missing.has(score) ? "missing" : undefined;
    const own = methods[score] ?? "";
    return method === undefined || own === method || ANY_METHOD.has(own) ? value : undefined;
  });
}

/** Whether a run plans the score at a turn; `undefined` if all its attempts failed there. */
function plansScore(turns: AttemptTurn[], score: string): boolean | undefined {
  let plans: false | undefined;
  for (const turn of turns) {
    if (turn.failed) continue;
    if (isPlanned(turn, score)) return true;
    plans = false;
  }
  return plans;
}

/** `undefined` if there is no value, or if its method is compatible with all others. */
function methodOf({ failed, scores, methods }: AttemptTurn, score: string): string | undefined {
  if (failed || typeof scores[score] !== "number") return undefined;
  const method = methods[score] ?? "";
  return ANY_METHOD.has(method) ? undefined : method;
}

/** The number of attempts with the score, by method. */
function countMethods(turns: AttemptTurn[], score: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const turn of turns) {
    const method = methodOf(turn, score);
    if (method !== undefined) counts.set(method, (counts.get(method) ?? 0) + 1);
  }
  return counts;
}

/**
 * The method that both sides share, the most frequent one of several; `undefined` if no value
 * depends on a method, and `null` if the sides share none.
 */
function commonMethod(pair: TurnPair, score: string): string | null | undefined {
  let only: string | undefined; // nearly always
  for (const side of SIDES) {
    for (const turn of pair[side]) {
      const method = methodOf(turn, score);
      only ??= method;
      if (method !== undefined && method !== only) return mostCommonMethod(pair, score);
    }
  }
  return only;
}

function mostCommonMethod(pair: TurnPair, score: string): string | null {
  const baseline = countMethods(pair.baseline, score);
  const candidate = countMethods(pair.candidate, score);
  const all = [...new Set([...baseline.keys(), ...candidate.keys()])];
  const shared = baseline.size > 0 && candidate.size > 0
    ? all.filter((method) => baseline.has(method) && candidate.has(method))
    : all;
  const count = (method: string) => (baseline.get(method) ?? 0) + (candidate.get(method) ?? 0);
  return shared.sort((a, b) => count(b) - count(a))[0] ?? null;
}

/** A failed call counts for every method, an empty reply 0: failing must not raise a score. */
function fill(
  pair: TurnPair,
  toCell: (turn: AttemptTurn, side: Side, index: number) => Cell,
): PairedCells {
  const cells = (side: Side) =>
    pair[side].map((turn, index) => {
      if (!turn.failed) return toCell(turn, side, index);
      return turn.unanswered ? "failed" : 0;
    });
  return { pair, baseline: cells("baseline"), candidate: cells("candidate") };
}

/** The mean of some parts; missing if one of them is. */
function combine(pair: TurnPair, parts: PairedCells[]): PairedCells {
  return fill(pair, (_turn, side, index) => {
    const cells = parts.map((part) => part[side][index]);
    if (cells.includes(undefined)) return undefined;
    return cells.every((cell) => typeof cell === "number") ? mean(cells)! : "missing";
  });
}
