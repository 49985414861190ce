import { SAME_MEANING, SAME_TEXT } from "../../score/reference_labels.ts";
import { OVERALL_PARTS } from "../../score/overall.ts";
import { mean } from "../../score/mean.ts";
import type { LeftOutCounter, LeftOutReason } from "../comparison.ts";
import { type AttemptTurn, isPlanned } from "../turn_scores.ts";

/** The same turn in both runs, in every attempt. */
export interface TurnPair {
  baseline: AttemptTurn[];
  candidate: AttemptTurn[];
  /** Whether a score has other expectations in the other run; false for all scores if unset. */
  expectsOther?: (score: string) => boolean;
}

/**
 * A score in one attempt. `value` is over the parts that both runs have at the turn, `null` if this
 * attempt lacks one of them; `low` and `high` are the bounds with all planned parts.
 */
export interface Cell {
  value: number | null;
  low: number;
  high: number;
  /** A call without an answer: it counts 0, but could have had any score. */
  isFailed?: true;
}

/** A score at a turn that both runs plan and compute in the same way. */
export interface PairedCells {
  /** One per attempt of the pair; `undefined` if the score does not apply. */
  baseline: (Cell | undefined)[];
  candidate: (Cell | undefined)[];
  /** The sides that have no value in any attempt. */
  lacking: Side[];
  /** Whether both sides have a value in at least one attempt. */
  isUsed: boolean;
}

const SIDES = ["baseline", "candidate"] as const;
type Side = (typeof SIDES)[number];

const FAILED: Cell = { value: 0, low: 0, high: 0, isFailed: true };
/** An empty answer counts 0: it is known that it has no text. */
const EMPTY: Cell = { value: 0, low: 0, high: 0 };
const MISSING: Cell = { value: null, low: 0, high: 1 };
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
  return note(combine(pair, paired), { pair, score, leftOut });
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
    const detail = SIDES.map((side) => [...methodsOf(pair[side], score).keys()].join(", "))
      .map((name) => name.slice(0, SHOWN_METHOD)).join(" / ");
    leftOut.add(score, { reason: "other_method", detail, turn: pair });
    return undefined;
  }
  const cells = fill(pair, ({ scores, missing, methods }) => {
    const value = scores[score];
    if (typeof value !== "number") return missing.has(score) ? MISSING : undefined;
    const own = methods[score] ?? "";
    if (method !== undefined && own !== method && !ANY_METHOD.has(own)) return MISSING;
    return { value, low: value, high: value };
  });
  return note(cells, { pair, score, leftOut });
}

/** Whether a run plans the score at a turn; `undefined` if all its attempts failed there. */
function plansScore(turns: AttemptTurn[], score: string): boolean | undefined {
  const answered = turns.filter(({ failed }) => !failed);
  return answered.length === 0 ? undefined : answered.some((turn) => isPlanned(turn, score));
}

/** The number of attempts with the score, by method. */
function methodsOf(turns: AttemptTurn[], score: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { failed, scores, methods } of turns) {
    const method = methods[score] ?? "";
    if (failed || typeof scores[score] !== "number" || ANY_METHOD.has(method)) continue;
    counts.set(method, (counts.get(method) ?? 0) + 1);
  }
  return counts;
}

/**
 * The method that both sides share, the most frequent one of several; `undefined` if no value
 * depends on a method, and `null` if the sides share none.
 */
function commonMethod(pair: TurnPair, score: string): string | null | undefined {
  const baseline = methodsOf(pair.baseline, score);
  const candidate = methodsOf(pair.candidate, score);
  const all = [...new Set([...baseline.keys(), ...candidate.keys()])];
  const shared = baseline.size > 0 && candidate.size > 0
    ? all.filter((method) => baseline.has(method) && candidate.has(method))
    : all;
  if (all.length > 0 && shared.length === 0) return null;
  const count = (method: string) => (baseline.get(method) ?? 0) + (candidate.get(method) ?? 0);
  return shared.sort((a, b) => count(b) - count(a))[0];
}

/** A failed call counts 0 for every method: failing must not raise a score. */
function fill(
  pair: TurnPair,
  toCell: (turn: AttemptTurn, index: { side: Side; index: number }) => Cell | undefined,
): PairedCells {
  const [baseline, candidate] = SIDES.map((side) =>
    pair[side].map((turn, index) => {
      if (!turn.failed) return toCell(turn, { side, index });
      return turn.unanswered ? FAILED : EMPTY;
    })
  ) as [(Cell | undefined)[], (Cell | undefined)[]];
  const cells = { baseline, candidate };
  const lacking = SIDES.filter((side) => !hasValue(cells[side]));
  return { ...cells, lacking, isUsed: lacking.length === 0 };
}

function hasValue(cells: (Cell | undefined)[]): boolean {
  return cells.some((cell) => typeof cell?.value === "number");
}

/** The mean of some parts: values of the parts used on both sides, bounds of all planned parts. */
function combine(pair: TurnPair, parts: PairedCells[]): PairedCells {
  const used = parts.filter(({ isUsed }) => isUsed);
  const combined = fill(pair, (_turn, { side, index }) => {
    const cells = parts.map((part) => part[side][index] ?? MISSING);
    const values = used.map((part) => part[side][index]?.value ?? null);
    return {
      value: values.every((value) => value !== null) ? mean(values) : null,
      low: mean(cells.map(({ low }) => low))!,
      high: mean(cells.map(({ high }) => high))!,
    };
  });
  if (used.length > 0) return combined;
  // No part is left: the mean is missing on the sides where a part is missing.
  return {
    ...combined,
    lacking: SIDES.filter((side) => parts.some(({ lacking }) => lacking.includes(side))),
  };
}

function note(
  cells: PairedCells,
  { pair, score, leftOut }: { pair: TurnPair; score: string; leftOut: LeftOutCounter },
): PairedCells {
  if (cells.isUsed) return cells;
  const [side, other] = cells.lacking;
  const reason: LeftOutReason = other ? "missing_in_both" : `missing_in_${side!}`;
  leftOut.add(score, { reason, turn: pair });
  return cells;
}
