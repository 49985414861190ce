import { mean } from "../../../score/mean.ts";
import type { Attempts } from "./permutation.ts";
import type { LeftOutCounter } from "../../comparison.ts";
import {
  type Cell,
  type PairedCells,
  pairScore,
  type Side,
  SIDES,
  type TurnPair,
} from "../turn_pair.ts";

/** A scenario in both runs, with its paired turns. */
export interface ScenarioPair {
  id: string;
  /** Equal for pairs with the same messages in both runs; see `questionOf`. */
  question: string;
  /** A sort key that does not depend on which run is the baseline. */
  key: string;
  turns: TurnPair[];
}

/** The scenarios with one question in both runs, by a score. */
export interface Cluster {
  id: string;
  /** The scores of the attempts: means over the turns. */
  attempts: Attempts;
  /** Means over the attempts. */
  baseline: number;
  candidate: number;
  /** Candidate − baseline. */
  difference: number;
  turns: number;
}

/** A score by question; `undefined` where a run does not have it. */
export interface ClusteredScore {
  /** Turns that failed or lack the score count 0. */
  clusters: (Cluster | undefined)[];
  /** Without those turns; `clusters` itself if there are none. */
  known: (Cluster | undefined)[];
  /** Failed turns count 0, without those that lack the score; one of the others if it is the same. */
  scored: (Cluster | undefined)[];
  /** Paired turns at which the score could not be compared. */
  turnsWithoutPair: number;
  /** Turns of single attempts where the score, or a part of it, is missing. */
  missing: Record<Side, number>;
  /** Calls without an answer at paired turns, of single attempts. */
  failed: Record<Side, number>;
}

/** Cells between two pauses: a scenario may have a thousand attempts. */
const PIECE = 500;

/**
 * The scenarios by question: neither the attempts and turns of one scenario nor scenarios with the
 * same messages are independent evidence.
 */
export function groupByQuestion(pairs: ScenarioPair[]): ScenarioPair[][] {
  return [...Map.groupBy(pairs, ({ question }) => question).values()];
}

/** A score of groups of scenarios with the same question. */
export async function clusterScore(
  groups: ScenarioPair[][],
  score: string,
  { leftOut, pause }: { leftOut: LeftOutCounter; pause: () => Promise<void> },
): Promise<ClusteredScore> {
  const found: ClusteredScore = {
    clusters: [],
    known: [],
    scored: [],
    turnsWithoutPair: 0,
    missing: { baseline: 0, candidate: 0 },
    failed: { baseline: 0, candidate: 0 },
  };
  let read = 0;

  function countGaps(cells: PairedCells): void {
    for (const side of SIDES) {
      for (const cell of cells[side]) {
        if (typeof cell !== "string") continue;
        found[cell][side]++;
      }
    }
  }

  const sum = ({ baseline, candidate }: Record<Side, number>) => baseline + candidate;
  const gaps = () => sum(found.failed) + sum(found.missing);

  for (const group of groups) {
    const scenarios: PairedCells[][] = [];
    const before = gaps();
    for (const { turns } of group) {
      const scored: PairedCells[] = [];
      for (const pair of turns) {
        const cells = pairScore(pair, score, leftOut);
        if (cells) {
          scored.push(cells);
          countGaps(cells);
        } else if (hasScore(pair, score)) found.turnsWithoutPair++;
        read += pair.baseline.length + pair.candidate.length;
        if (read < PIECE) continue;
        read = 0;
        await pause();
      }
      scenarios.push(scored);
    }
    const { id } = group[0]!;
    const without = (gaps: Cell[]) =>
      clusterTurns(id, scenarios.map((turns) => turns.map((cells) => leaveOut(cells, gaps))));
    const cluster = clusterTurns(id, scenarios);
    found.clusters.push(cluster);
    found.known.push(gaps() === before ? cluster : without(["failed", "missing"]));
    found.scored.push(gaps() === before ? cluster : without(["missing"]));
  }
  if (sum(found.missing) === 0) found.scored = found.clusters;
  else if (sum(found.failed) === 0) found.scored = found.known;
  return gaps() > 0 ? found : { ...found, known: found.clusters };
}

function leaveOut({ pair, baseline, candidate }: PairedCells, gaps: Cell[]): PairedCells {
  const known = (cell: Cell) => gaps.includes(cell) ? undefined : cell;
  return { pair, baseline: baseline.map(known), candidate: candidate.map(known) };
}

/** Whether any attempt of either run has the score at a turn. */
function hasScore({ baseline, candidate }: TurnPair, score: string): boolean {
  return [...baseline, ...candidate].some(({ scores, failed }) =>
    !failed && typeof scores[score] === "number"
  );
}

/** Over the turns that both sides have; `undefined` if there are none. */
function clusterTurns(id: string, scenarios: PairedCells[][]): Cluster | undefined {
  const attempts: Attempts = { baseline: [], candidate: [] };
  let count = 0;
  for (const turns of scenarios) {
    const used = turns.filter(({ baseline, candidate }) => hasCell(baseline) && hasCell(candidate));
    for (const side of SIDES) attempts[side].push(...scoreAttempts(used, side));
    count += used.length;
  }
  if (count === 0) return undefined;
  const [baseline, candidate] = [mean(attempts.baseline)!, mean(attempts.candidate)!];
  return { id, attempts, baseline, candidate, difference: candidate - baseline, turns: count };
}

function hasCell(cells: Cell[]): boolean {
  return cells.some((cell) => cell !== undefined);
}

/**
 * Each attempt's mean over the turns. If an attempt has not reached a turn, or has no value there,
 * the mean of the run's other attempts is used, so that each turn keeps its weight.
 */
function scoreAttempts(turns: PairedCells[], side: Side): number[] {
  if (turns.length === 1) {
    return turns[0]![side].filter((cell) => cell !== undefined).map(valueOf);
  }
  const byAttempt = new Map<number, number[]>(); // NaN where the attempt has no value
  const turnMeans = turns.map(({ pair, [side]: cells }, turn) => {
    const values: number[] = [];
    cells.forEach((cell, index) => {
      if (cell === undefined) return;
      const value = valueOf(cell);
      values.push(value);
      const { attempt } = pair[side][index]!;
      const own = byAttempt.getOrInsertComputed(attempt, () => turns.map(() => NaN));
      own[turn] = value;
    });
    return mean(values)!;
  });
  return [...byAttempt].sort(([a], [b]) => a - b).map(([, own]) =>
    own.reduce((sum, value, turn) => sum + (Number.isNaN(value) ? turnMeans[turn]! : value), 0) /
    own.length
  );
}

/** What a cell counts. */
export function valueOf(cell: Exclude<Cell, undefined>): number {
  return typeof cell === "number" ? cell : 0;
}
