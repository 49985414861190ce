import { mean } from "../assess/mean.ts";
import type { Attempts } from "./attempt_shift.ts";
import type { LeftOutCounter } from "./left_out.ts";
import { type Cell, type PairedCells, pairScore, type TurnPair } from "./turn_pair.ts";

/** Two scenarios that belong together, and their turns that do. */
export interface ScenarioPair {
  id: string;
  /** Equal for pairs that are the same scenario, listed twice; see `ReachedScenario`. */
  fingerprint: string;
  /** See `Cluster`. */
  key: string;
  turns: TurnPair[];
}

/** One scenario in both runs: each attempt's score is the mean over its turns. */
export interface Cluster extends Attempts {
  id: string;
  /** Orders the scenarios in the same way whichever run is the baseline. */
  key: string;
  turns: number;
}

/** One score by scenario. */
export interface ClusteredScore {
  clusters: Cluster[];
  /** Paired turns at which the score could not be compared. */
  turnsWithoutPair: number;
  /** Turns of single attempts where the score, or a part of it, is missing. */
  missing: { baseline: number; candidate: number };
  /** The same with all that is missing against the candidate, and for it; `null` without any. */
  bounds: Extremes | null;
  /** Calls that failed at paired turns, of single attempts. */
  failed: { baseline: number; candidate: number };
  /** The same with all that is missing or failed; `null` if no call failed. */
  errorBounds: Extremes | null;
}

/** The worst and the best for the candidate that unknown values allow. */
export interface Extremes {
  lowest: Cluster[];
  highest: Cluster[];
}

type Side = keyof Attempts;
type Pick = (cell: Cell) => number | null;
/** A turn's cells, and which attempts they are of. */
type ScoredPair = PairedCells & { pair: TurnPair };

/**
 * A score by scenario. Attempts and turns of one scenario are no independent evidence about
 * scenarios, and neither is a scenario that stands in the batch twice, so these are one cluster.
 */
export async function clusterScore(
  pairs: ScenarioPair[],
  score: string,
  { leftOut, pause }: { leftOut: LeftOutCounter; pause: () => Promise<void> },
): Promise<ClusteredScore> {
  const main: Cluster[] = [];
  const bounds: Extremes = { lowest: [], highest: [] };
  const errorBounds: Extremes = { lowest: [], highest: [] };
  const missing = { baseline: 0, candidate: 0 };
  const failed = { baseline: 0, candidate: 0 };
  let turnsWithoutPair = 0;
  for (const group of Map.groupBy(pairs, (pair) => pair.fingerprint).values()) {
    const scenarios = group.map(({ turns }) =>
      turns.flatMap((pair): ScoredPair[] => {
        const cells = pairScore(pair, score, leftOut);
        if (cells === undefined) {
          if (hasScore(pair, score)) turnsWithoutPair++;
          return [];
        }
        if (!cells.isUsed) turnsWithoutPair++;
        missing.baseline += countMissing(cells.baseline);
        missing.candidate += countMissing(cells.candidate);
        failed.baseline += countFailed(cells.baseline);
        failed.candidate += countFailed(cells.candidate);
        return [{ ...cells, pair }];
      })
    );
    const scenario = group[0]!;
    const used = scenarios.map((turns) => turns.filter(({ isUsed }) => isUsed));
    main.push(...cluster(scenario, { scenarios: used, baseline: value, candidate: value }));
    addExtremes(bounds, scenario, { scenarios, low, high });
    addExtremes(errorBounds, scenario, { scenarios, low, high: highIfAnswered });
    await pause();
  }
  return {
    clusters: main,
    turnsWithoutPair,
    missing,
    bounds: missing.baseline + missing.candidate === 0 ? null : bounds,
    failed,
    errorBounds: failed.baseline + failed.candidate === 0 ? null : errorBounds,
  };
}

const value: Pick = (cell) => cell.value;
const low: Pick = (cell) => cell.low;
const high: Pick = (cell) => cell.high;
/** A call that failed might have had the best score. */
const highIfAnswered: Pick = (cell) => cell.isFailed ? 1 : cell.high;

function addExtremes(
  { lowest, highest }: Extremes,
  scenario: ScenarioPair,
  { scenarios, low, high }: { scenarios: ScoredPair[][]; low: Pick; high: Pick },
): void {
  lowest.push(...cluster(scenario, { scenarios, baseline: high, candidate: low }));
  highest.push(...cluster(scenario, { scenarios, baseline: low, candidate: high }));
}

/** Whether any attempt of either run has the score at a turn. */
function hasScore({ baseline, candidate }: TurnPair, score: string): boolean {
  return [...baseline, ...candidate].some(({ scores, failed }) =>
    !failed && typeof scores[score] === "number"
  );
}

/** A mean may have a value without one of its parts, and yet that part is missing in it. */
function countMissing(cells: (Cell | undefined)[]): number {
  return cells.filter((cell) => cell && (cell.value === null || cell.low < cell.high)).length;
}

function countFailed(cells: (Cell | undefined)[]): number {
  return cells.filter((cell) => cell?.isFailed).length;
}

/** None, if a side has no attempt with the score. */
function cluster(
  { id, key }: ScenarioPair,
  { scenarios, baseline, candidate }: {
    scenarios: ScoredPair[][];
    baseline: Pick;
    candidate: Pick;
  },
): Cluster[] {
  const attempts = {
    baseline: scenarios.flatMap((turns) => scoreAttempts(turns, "baseline", baseline)),
    candidate: scenarios.flatMap((turns) => scoreAttempts(turns, "candidate", candidate)),
  };
  if (attempts.baseline.length === 0 || attempts.candidate.length === 0) return [];
  return [{ id, key, ...attempts, turns: scenarios.flat().length }];
}

/**
 * Each attempt's mean over the turns. At a turn that an attempt has not reached, or where its score
 * is missing, the mean of the run's other attempts stands in: no turn loses weight by it.
 */
function scoreAttempts(turns: ScoredPair[], side: Side, pick: Pick): number[] {
  const byAttempt = new Map<number, (number | undefined)[]>();
  const turnMeans = turns.map(({ pair, [side]: cells }, turn) => {
    const values: number[] = [];
    for (const [index, cell] of cells.entries()) {
      const value = cell && pick(cell);
      if (typeof value !== "number") continue;
      values.push(value);
      const { attempt } = pair[side][index]!;
      const own = byAttempt.get(attempt) ?? [];
      own[turn] = value;
      byAttempt.set(attempt, own);
    }
    return mean(values);
  });
  return [...byAttempt].sort(([a], [b]) => a - b).flatMap(([, own]) => {
    const values = turnMeans.map((average, turn) => own[turn] ?? average);
    return values.some((value) => value === null) ? [] : [mean(values as number[])!];
  });
}

/** A side's mean over the attempts of a scenario. */
export function clusterMean(cluster: Attempts, side: Side): number {
  return mean(cluster[side])!;
}
