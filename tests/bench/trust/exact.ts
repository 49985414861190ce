import type { Interval } from "../../../eval/figures/summary/mean_interval.ts";
import { CANDIDATES } from "./candidates.ts";

/** One cell of the grid of exact coverages. */
export interface ExactCell {
  method: string;
  scenarios: number;
}

/** Over all distributions of the grid. */
export interface ExactShares {
  /** The mean over all samples, each counted once. */
  width: number;
  /** The least coverage, and the distribution that has it. */
  covered: number;
  worst: string;
}

const SCENARIOS = [5, 8, 12, 20, 30];

/** The scores that scenarios may have: every distribution over three of them is tried. */
const POINTS: [number, number, number][] = [
  ...[0.25, 0.5, 0.75, 0.85, 0.95].map((middle): [number, number, number] => [0, middle, 1]),
  [0, 0.8, 0.9],
  [0, 0.6, 0.9],
  [0, 0.45, 0.55],
  [0.3, 0.7, 1],
  [0.4, 0.5, 0.6],
];
/** Chances are multiples of 1 / STEPS. */
const STEPS = 50;

export function exactGrid(): ExactCell[] {
  return Object.keys(CANDIDATES).flatMap((method) =>
    SCENARIOS.map((scenarios) => ({ method, scenarios }))
  );
}

/** How often an interval holds the mean: the chances of all samples that hold it, summed up. */
export function computeExact({ method, scenarios }: ExactCell): ExactShares {
  const found = { width: 0, covered: 1, worst: "" };
  for (const points of POINTS) {
    const samples = samplesOf(points, scenarios).map(({ counts, values }) => ({
      counts,
      interval: CANDIDATES[method]!(values),
    }));
    const widths = samples.reduce((sum, { interval: [low, high] }) => sum + high - low, 0);
    found.width += widths / samples.length / POINTS.length;
    for (const chances of distributions()) {
      const mean = chances.reduce((sum, chance, index) => sum + chance * points[index]!, 0);
      const holds = ([low, high]: Interval) => low <= mean + 1e-9 && mean - 1e-9 <= high;
      const logs: Triple = [Math.log(chances[0]), Math.log(chances[1]), Math.log(chances[2])];
      const missed = samples.reduce(
        (sum, { counts, interval }) => holds(interval) ? sum : sum + chanceOf(counts, logs),
        0,
      );
      if (1 - missed >= found.covered) continue;
      found.covered = 1 - missed;
      found.worst = points.map((point, index) => `${point}: ${chances[index]}`).join(", ");
    }
  }
  return found;
}

type Triple = readonly [number, number, number];

function samplesOf(points: Triple, scenarios: number): { counts: Triple; values: number[] }[] {
  return triples(scenarios).map((counts) => ({
    counts,
    values: counts.flatMap((count, index) => new Array<number>(count).fill(points[index]!)),
  }));
}

function distributions(): Triple[] {
  return triples(STEPS).map(([a, b, c]) => [a / STEPS, b / STEPS, c / STEPS]);
}

/** All ways to split a number into three. */
function triples(sum: number): Triple[] {
  return Array.from(
    { length: sum + 1 },
    (_, a) => Array.from({ length: sum - a + 1 }, (_, b): Triple => [a, b, sum - a - b]),
  ).flat();
}

/** The chance of a sample with these counts, whatever its order. */
function chanceOf(counts: Triple, logs: Triple): number {
  let log = LOG_FACTORIALS[counts[0] + counts[1] + counts[2]]!;
  for (let index = 0; index < 3; index++) {
    if (counts[index] === 0) continue; // the logarithm may be infinite
    log += counts[index]! * logs[index]! - LOG_FACTORIALS[counts[index]!]!;
  }
  return Math.exp(log);
}

const LOG_FACTORIALS = [0];
for (let n = 1; n <= Math.max(...SCENARIOS); n++) {
  LOG_FACTORIALS.push(LOG_FACTORIALS.at(-1)! + Math.log(n));
}
