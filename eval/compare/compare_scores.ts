import { mean } from "../assess/mean.ts";
import {
  type Cluster,
  type ClusteredScore,
  clusterMean,
  clusterScore,
  type Extremes,
  type ScenarioPair,
} from "./clusters.ts";
import type { MovedScenario, ScoreComparison } from "./comparison.ts";
import type { LeftOutCounter } from "./left_out.ts";
import { type PermutationResult, permutationTest } from "./permutation.ts";
import { planScenarios } from "./planning.ts";
import type { TestOptions } from "./sign_flip.ts";
import { ALPHA } from "./spans.ts";
import { decideVerdict } from "./verdict.ts";
import { ROUNDING } from "../../shared/rounding.ts";

/** How many scenarios `mostMoved` lists per direction. */
const SHOWN_MOVED = 10;
interface TestedScore {
  name: string;
  score: ClusteredScore;
  test: PermutationResult;
  /** The largest p-value that the missing values allow; that of the test if nothing is missing. */
  worstP: number;
  /** The largest that failed calls and missing values allow; the one above if no call failed. */
  worstPIfAnswered: number;
}

/** What was found of each score, and the scenarios that it was found in. */
export interface ComparedScores {
  scores: Record<string, ScoreComparison>;
  clusters: Map<string, Cluster[]>;
}

/**
 * Tests each score over the scenarios that have it in both runs, then corrects for their number. A
 * score that no scenario has in both is left out.
 */
export async function compareScores(
  pairs: ScenarioPair[],
  { names, leftOut, ...options }: { names: string[]; leftOut: LeftOutCounter } & TestOptions,
): Promise<ComparedScores> {
  const tested: TestedScore[] = [];
  for (const name of names) {
    const score = await clusterScore(pairs, name, { leftOut, ...options });
    if (score.clusters.length === 0) continue;
    const test = await permutationTest(inOrder(score.clusters), options);
    const { clusters, bounds, errorBounds } = score;
    const worstP = await findWorstP(clusters, { p: test.p, extremes: bounds, ...options });
    const worstPIfAnswered = await findWorstP(clusters, {
      p: worstP,
      extremes: errorBounds,
      ...options,
    });
    tested.push({ name, score, test, worstP, worstPIfAnswered });
  }
  const asCounted = holm(tested.map(({ worstP }) => worstP));
  const adjusted = holm(tested.map(({ worstPIfAnswered }) => worstPIfAnswered));
  const looked = tested.length;
  const scores: [string, ScoreComparison][] = [];
  for (const [index, score] of tested.entries()) {
    scores.push([
      score.name,
      describeScore(score, {
        p_adjusted: adjusted[index]!,
        pAsCounted: asCounted[index]!,
        looked,
      }),
    ]);
    await options.pause();
  }
  return {
    scores: Object.fromEntries(scores), // a score may have any name, also __proto__
    clusters: new Map(tested.map(({ name, score }) => [name, score.clusters])),
  };
}

/**
 * A verdict must hold wherever the unknown values lie, so the test is repeated with all of them
 * against the candidate and with all of them for it. 1 if the difference changes its sign; `p` if
 * nothing is unknown.
 */
async function findWorstP(
  clusters: Cluster[],
  { p, extremes, ...options }: { p: number; extremes: Extremes | null } & TestOptions,
): Promise<number> {
  if (!extremes) return p;
  const sign = Math.sign(meanDifference(clusters));
  let worst = p;
  for (const extreme of [extremes.lowest, extremes.highest]) {
    if (Math.sign(meanDifference(extreme)) !== sign) return 1;
    worst = Math.max(worst, (await permutationTest(inOrder(extreme), options)).p);
  }
  return worst;
}

/** A sample of permutations depends on the order, which must not depend on which run is the baseline. */
function inOrder(clusters: Cluster[]): Cluster[] {
  return clusters.toSorted((a, b) => a.key < b.key ? -1 : Number(a.key > b.key));
}

function describeScore(
  { score, test, worstP, worstPIfAnswered }: TestedScore,
  { p_adjusted, pAsCounted, looked }: { p_adjusted: number; pAsCounted: number; looked: number },
): ScoreComparison {
  const { clusters, bounds, missing, turnsWithoutPair, failed, errorBounds } = score;
  const baseline = mean(clusters.map((cluster) => clusterMean(cluster, "baseline")))!;
  const candidate = mean(clusters.map((cluster) => clusterMean(cluster, "candidate")))!;
  const evidence = { test, worstP, worstPIfAnswered, looked, missing, failed };
  const decided = decideVerdict(clusters, { ...evidence, p_adjusted });
  const planning = decided.verdict === "inconclusive" &&
    planScenarios(differencesOf(clusters), ALPHA / looked);
  return {
    baseline,
    candidate,
    difference: candidate - baseline,
    ci95: test.interval,
    p: test.p,
    p_adjusted,
    ...decided,
    scenarios: clusters.length,
    turns: clusters.reduce((sum, cluster) => sum + cluster.turns, 0),
    turns_without_pair: turnsWithoutPair,
    missing,
    difference_bounds: bounds && spanOf(bounds),
    ...(errorBounds && {
      failed,
      difference_error_bounds: spanOf(errorBounds),
      verdict_as_counted: decideVerdict(clusters, { ...evidence, p_adjusted: pAsCounted }).verdict,
    }),
    ...(planning && { planning }),
  };
}

function spanOf({ lowest, highest }: Extremes): [number, number] {
  return [meanDifference(lowest), meanDifference(highest)];
}

function differencesOf(clusters: Cluster[]): number[] {
  return clusters.map((cluster) =>
    clusterMean(cluster, "candidate") - clusterMean(cluster, "baseline")
  );
}

function meanDifference(clusters: Cluster[]): number {
  return mean(differencesOf(clusters))!;
}

/**
 * Holm's step-down correction: what each of several p-values is worth when all were looked at. The
 * chance that any of them falls to α by luck stays at most α, however they depend on one another.
 */
export function holm(values: number[]): number[] {
  const ascending = values.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(values.length);
  let floor = 0;
  for (const [rank, { p, index }] of ascending.entries()) {
    floor = Math.max(floor, Math.min(1, p * (values.length - rank)));
    adjusted[index] = floor;
  }
  return adjusted;
}

/** The scenarios that moved most, either way, the furthest first. */
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
