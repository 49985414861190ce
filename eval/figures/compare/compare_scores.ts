import { mean } from "../../score/mean.ts";
import { ALPHA } from "../summary/mean_interval.ts";
import { tooFew } from "../summary/statistics.ts";
import {
  type Cluster,
  clusterMean,
  clusterScore,
  type Extremes,
  type ScenarioPair,
} from "./statistics/clusters.ts";
import type { LeftOutCounter, MovedScenario, ScoreComparison } from "../comparison.ts";
import {
  type CorrectedTest,
  differencesOf,
  permutationTest,
  testedInterval,
  type TestOptions,
} from "./statistics/permutation.ts";
import { ROUNDING } from "../../test/rounding.ts";

/** How many scenarios `mostMoved` lists per direction. */
const SHOWN_MOVED = 10;

/** The test of one score before any correction. */
export interface TestedScore {
  score: string;
  /** The fields of the answer that do not depend on a correction. */
  means: Omit<ScoreComparison, "ci95" | "p">;
  /** The scenarios' differences with all unknown values against the candidate, and for it. */
  lows: number[];
  highs: number[];
  /** The largest p-value that missing values and unanswered calls allow. */
  p: number;
  /** The same, but unanswered calls count 0. */
  pAsCounted: number;
  /** The least mean difference that missing values allow. */
  leastAsCounted: number;
  missing: { baseline: number; candidate: number };
  failed: { baseline: number; candidate: number };
}

/**
 * Tests each score over the scenarios that have it in both runs. Scores without such a scenario are
 * left out. `clusters` has the scenarios of each score.
 */
export async function testScores(
  pairs: ScenarioPair[],
  { names, leftOut, ...options }: { names: string[]; leftOut: LeftOutCounter } & TestOptions,
): Promise<{ tested: TestedScore[]; clusters: Map<string, Cluster[]> }> {
  const tested: TestedScore[] = [];
  const found = new Map<string, Cluster[]>();
  for (const name of names) {
    const { clusters, turnsWithoutPair, bounds, errorBounds, missing, failed } = await clusterScore(
      pairs,
      name,
      { leftOut, ...options },
    );
    if (bounds.lowest.length === 0) continue;
    const pAsCounted = await findWorstP(bounds, options);
    const p = errorBounds ? await findWorstP(errorBounds, options) : pAsCounted;
    const { lowest, highest } = errorBounds ?? bounds;
    const hasMissing = missing.baseline + missing.candidate > 0;
    found.set(name, clusters);
    tested.push({
      score: name,
      means: {
        ...describeMeans(bounds, hasMissing),
        scenarios: lowest.length,
        turns: lowest.reduce((sum, cluster) => sum + cluster.turns, 0),
        turns_without_pair: turnsWithoutPair,
        ...(hasMissing && { missing }),
        ...(errorBounds && { failed, error_bounds: spanOf(errorBounds) }),
      },
      lows: differencesOf(lowest),
      highs: differencesOf(highest),
      p,
      pAsCounted,
      leastAsCounted: meanDifference(bounds.lowest),
      missing,
      failed,
    });
  }
  return { tested, clusters: found };
}

/** A score in the answer. `corrected` is set if several scores were tested. */
export function describeScore(
  { means, lows, highs, p }: TestedScore,
  corrected: CorrectedTest = { p, level: ALPHA },
): ScoreComparison {
  const ci95 = testedInterval({ lows, highs }, { p, alpha: corrected.level });
  const { baseline, candidate, difference, bounds, ...rest } = means;
  return {
    ...{ baseline, candidate, difference },
    ...(bounds && { bounds }),
    ci95,
    ...(!ci95 && { ci95_reason: tooFew(lows.length) }),
    p: corrected.p,
    ...rest,
  };
}

function describeMeans(
  { lowest, highest }: Extremes,
  hasMissing: boolean,
): Pick<ScoreComparison, "baseline" | "candidate" | "difference" | "bounds"> {
  const side = (clusters: Cluster[], of: "baseline" | "candidate") =>
    mean(clusters.map((cluster) => clusterMean(cluster, of)))!;
  if (!hasMissing) {
    const [baseline, candidate] = [side(lowest, "baseline"), side(lowest, "candidate")];
    return { baseline, candidate, difference: candidate - baseline };
  }
  return {
    ...{ baseline: null, candidate: null, difference: null },
    bounds: {
      baseline: [side(highest, "baseline"), side(lowest, "baseline")],
      candidate: [side(lowest, "candidate"), side(highest, "candidate")],
      difference: spanOf({ lowest, highest }),
    },
  };
}

/**
 * A verdict must hold for all possible unknown values, so the test is done with all of them against
 * the candidate and with all of them for it. 1 if the difference changes its sign between them.
 */
async function findWorstP({ lowest, highest }: Extremes, options: TestOptions): Promise<number> {
  const p = await permutationTest(inOrder(lowest), options);
  if (lowest === highest) return p;
  if (Math.sign(meanDifference(lowest)) !== Math.sign(meanDifference(highest))) return 1;
  return Math.max(p, await permutationTest(inOrder(highest), options));
}

/**
 * The sampled permutations depend on the order, which must not depend on which run is the baseline.
 */
function inOrder(clusters: Cluster[]): Cluster[] {
  return clusters.toSorted((a, b) => a.key < b.key ? -1 : Number(a.key > b.key));
}

function spanOf({ lowest, highest }: Extremes): [number, number] {
  return [meanDifference(lowest), meanDifference(highest)];
}

function meanDifference(clusters: Cluster[]): number {
  return mean(differencesOf(clusters))!;
}

/** The scenarios with the largest differences in each direction, the largest first. */
export function mostMoved(clusters: Cluster[]): { up: MovedScenario[]; down: MovedScenario[] } {
  const moved = clusters.map((cluster): MovedScenario => {
    const baseline = clusterMean(cluster, "baseline");
    const candidate = clusterMean(cluster, "candidate");
    return { scenario_id: cluster.id, baseline, candidate, difference: candidate - baseline };
  });
  const furthest = (direction: 1 | -1) =>
    moved.filter(({ difference }) => direction * difference > ROUNDING)
      .sort((a, b) => direction * (b.difference - a.difference))
      .slice(0, SHOWN_MOVED);
  return { up: furthest(1), down: furthest(-1) };
}
