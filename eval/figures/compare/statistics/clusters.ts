import { mean } from "../../../score/mean.ts";
import type { Attempts } from "./permutation.ts";
import type { LeftOutCounter } from "../../comparison.ts";
import { type Cell, type PairedCells, pairScore, type TurnPair } from "../turn_pair.ts";

/** A scenario in both runs, with its paired turns. */
export interface ScenarioPair {
  id: string;
  /** Equal for pairs with the same messages in both runs; see `questionOf`. */
  question: string;
  /** See `Cluster`. */
  key: string;
  turns: TurnPair[];
}

/** One scenario in both runs: each attempt's score is the mean over its turns. */
export interface Cluster extends Attempts {
  id: string;
  /** A sort key that does not depend on which run is the baseline. */
  key: string;
  turns: number;
}

/** The worst and the best for the candidate that unknown values allow. */
export interface Extremes {
  lowest: Cluster[];
  highest: Cluster[];
}

type Side = keyof Attempts;
type ReadCell = (cell: Cell) => number | null;
/** A turn's cells and its attempts. */
type ScoredPair = PairedCells & { pair: TurnPair };

interface UnknownCounts {
  /** Paired turns at which the score could not be compared. */
  turnsWithoutPair: number;
  /** Turns of single attempts where the score, or a part of it, is missing. */
  missing: Record<Side, number>;
  /** Calls without an answer at paired turns, of single attempts. */
  failed: Record<Side, number>;
}

interface ClusterOptions {
  leftOut: LeftOutCounter;
  /** Also awaited within a scenario, which may have a thousand attempts. */
  pause: () => Promise<void>;
}

/**
 * A score by scenario. The attempts and turns of one scenario are not independent evidence, and
 * neither are scenarios with the same messages, so these are one cluster.
 */
export async function clusterScore(
  pairs: ScenarioPair[],
  score: string,
  { leftOut, pause }: ClusterOptions,
) {
  const main: Cluster[] = [];
  const bounds: Extremes = { lowest: [], highest: [] };
  const errorBounds: Extremes = { lowest: [], highest: [] };
  const counts = noCounts();
  for (const group of Map.groupBy(pairs, (pair) => pair.question).values()) {
    const { scenarios, ...unknown } = await scoreTurns(group, score, { leftOut, pause });
    addCounts(counts, unknown);
    const used = scenarios.map((turns) => turns.filter(({ isUsed }) => isUsed));
    const cluster = (turns: ScoredPair[][], picks: Record<Side, ReadCell>) =>
      clusterTurns(group[0]!, { scenarios: turns, picks, pause });
    const own = await cluster(used, { baseline: value, candidate: value });
    main.push(...own);
    // If nothing is unknown, the extremes are the values.
    const add = async (to: Extremes, isKnown: boolean, high: ReadCell) => {
      to.lowest.push(
        ...isKnown ? own : await cluster(scenarios, { baseline: high, candidate: low }),
      );
      to.highest.push(
        ...isKnown ? own : await cluster(scenarios, { baseline: low, candidate: high }),
      );
    };
    const isWhole = total(unknown.missing) === 0 && unknown.turnsWithoutPair === 0;
    await add(bounds, isWhole, high);
    await add(errorBounds, isWhole && total(unknown.failed) === 0, highIfAnswered);
  }
  return {
    clusters: main,
    ...counts,
    /** The clusters with all missing values against the candidate, and for it. */
    bounds: total(counts.missing) === 0 ? { lowest: main, highest: main } : bounds,
    /** The same including unanswered calls; `null` if all calls were answered. */
    errorBounds: total(counts.failed) === 0 ? null : errorBounds,
  };
}

const value: ReadCell = (cell) => cell.value;
const low: ReadCell = (cell) => cell.low;
const high: ReadCell = (cell) => cell.high;
/** A call without an answer might have had the best score. */
const highIfAnswered: ReadCell = (cell) => cell.isFailed ? 1 : cell.high;

function noCounts(): UnknownCounts {
  return {
    turnsWithoutPair: 0,
    missing: { baseline: 0, candidate: 0 },
    failed: { baseline: 0, candidate: 0 },
  };
}

function addCounts(to: UnknownCounts, { turnsWithoutPair, missing, failed }: UnknownCounts): void {
  to.turnsWithoutPair += turnsWithoutPair;
  for (const side of ["baseline", "candidate"] as const) {
    to.missing[side] += missing[side];
    to.failed[side] += failed[side];
  }
}

function total({ baseline, candidate }: Record<Side, number>): number {
  return baseline + candidate;
}

async function scoreTurns(
  group: ScenarioPair[],
  score: string,
  { leftOut, pause }: ClusterOptions,
): Promise<UnknownCounts & { scenarios: ScoredPair[][] }> {
  const found = { scenarios: [] as ScoredPair[][], ...noCounts() };
  for (const { turns } of group) {
    const scored: ScoredPair[] = [];
    for (const pair of turns) {
      const cells = pairScore(pair, score, leftOut);
      if (cells ? !cells.isUsed : hasScore(pair, score)) found.turnsWithoutPair++;
      if (cells) {
        const { baseline, candidate } = cells;
        addCounts(found, {
          turnsWithoutPair: 0,
          missing: { baseline: countMissing(baseline), candidate: countMissing(candidate) },
          failed: { baseline: countFailed(baseline), candidate: countFailed(candidate) },
        });
        scored.push({ ...cells, pair });
      }
      await pause();
    }
    found.scenarios.push(scored);
  }
  return found;
}

/** Whether any attempt of either run has the score at a turn. */
function hasScore({ baseline, candidate }: TurnPair, score: string): boolean {
  return [...baseline, ...candidate].some(({ scores, failed }) =>
    !failed && typeof scores[score] === "number"
  );
}

/** Includes means that have a value although one of their parts is missing. */
function countMissing(cells: (Cell | undefined)[]): number {
  return cells.filter((cell) => cell && (cell.value === null || cell.low < cell.high)).length;
}

function countFailed(cells: (Cell | undefined)[]): number {
  return cells.filter((cell) => cell?.isFailed).length;
}

/** Empty if a side has no attempt with the score. */
async function clusterTurns(
  { id, key }: ScenarioPair,
  { scenarios, picks, pause }: {
    scenarios: ScoredPair[][];
    picks: Record<Side, ReadCell>;
    pause: () => Promise<void>;
  },
): Promise<Cluster[]> {
  const attempts: Attempts = { baseline: [], candidate: [] };
  for (const turns of scenarios) {
    for (const side of ["baseline", "candidate"] as const) {
      for (const score of scoreAttempts(turns, side, picks[side])) attempts[side].push(score);
      await pause();
    }
  }
  if (attempts.baseline.length === 0 || attempts.candidate.length === 0) return [];
  return [{ id, key, ...attempts, turns: scenarios.flat().length }];
}

/**
 * Each attempt's mean over the turns. If an attempt has not reached a turn, or its score is missing
 * there, the mean of the run's other attempts is used, so that each turn keeps its weight.
 */
function scoreAttempts(turns: ScoredPair[], side: Side, pick: ReadCell): number[] {
  const byAttempt = new Map<number, number[]>(); // NaN where the attempt has no value
  const turnMeans = turns.map(({ pair, [side]: cells }, turn) => {
    const values: number[] = [];
    cells.forEach((cell, index) => {
      const value = cell && pick(cell);
      if (typeof value !== "number") return;
      values.push(value);
      const { attempt } = pair[side][index]!;
      const own = byAttempt.getOrInsertComputed(attempt, () => turns.map(() => NaN));
      own[turn] = value;
    });
    return mean(values);
  });
  if (turnMeans.includes(null)) return [];
  return [...byAttempt].sort(([a], [b]) => a - b).map(([, own]) =>
    own.reduce((sum, value, turn) => sum + (Number.isNaN(value) ? turnMeans[turn]! : value), 0) /
    own.length
  );
}

/** A side's mean over the attempts of a scenario. */
export function clusterMean(cluster: Attempts, side: Side): number {
  return mean(cluster[side])!;
}
