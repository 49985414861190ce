import { mean } from "../assess/mean.ts";
import {
  type Cluster,
  clusterMean,
  clusterScore,
  type Extremes,
  type ScenarioPair,
} from "./clusters.ts";
import type { MovedScenario, ScoreComparison } from "./comparison.ts";
import { holm, weighTests } from "./holm.ts";
import type { LeftOutCounter } from "./left_out.ts";
import { type PermutationResult, permutationTest } from "./permutation.ts";
import { planScenarios } from "./planning.ts";
import type { TestOptions } from "./sign_flip.ts";
import { ALPHA } from "./spans.ts";
import { decideVerdict, type Evidence } from "./verdict.ts";
import { ROUNDING } from "../../shared/rounding.ts";

/** How many scenarios `mostMoved` lists per direction. */
const SHOWN_MOVED = 10;

/** What a test found of one score, before any correction. The scenarios themselves are let go. */
export interface TestedScore {
  name: string;
  baseline: number;
  candidate: number;
  /** Candidate − baseline, by scenario. */
  differences: number[];
  test: PermutationResult;
  /** The largest p-value that the missing values allow; that of the test if nothing is missing. */
  worstP: number;
  /** The largest that failed calls and missing values allow; the one above if no call failed. */
  worstPIfAnswered: number;
  turns: number;
  turnsWithoutPair: number;
  missing: ScoreComparison["missing"];
  failed: NonNullable<ScoreComparison["failed"]>;
  bounds: [number, number] | null;
  errorBounds: [number, number] | null;
}

/**
 * Tests each score over the scenarios that have it in both runs. A score that no scenario has in
 * both is left out. `clusters` are the scenarios that each was found in.
 */
export async function testScores(
  pairs: ScenarioPair[],
  { names, leftOut, ...options }: { names: string[]; leftOut: LeftOutCounter } & TestOptions,
): Promise<{ tested: TestedScore[]; clusters: Map<string, Cluster[]> }> {
  const tested: TestedScore[] = [];
  const found = new Map<string, Cluster[]>();
  for (const name of names) {
    const score = await clusterScore(pairs, name, { leftOut, ...options });
    const { clusters, bounds, errorBounds } = score;
    if (clusters.length === 0) continue;
    const test = await permutationTest(inOrder(clusters), options);
    const worstP = await findWorstP(clusters, { p: test.p, extremes: bounds, ...options });
    const worstPIfAnswered = await findWorstP(clusters, {
      p: worstP,
      extremes: errorBounds,
      ...options,
    });
    found.set(name, clusters);
    tested.push({
      name,
      baseline: mean(clusters.map((cluster) => clusterMean(cluster, "baseline")))!,
      candidate: mean(clusters.map((cluster) => clusterMean(cluster, "candidate")))!,
      differences: differencesOf(clusters),
      test,
      worstP,
      worstPIfAnswered,
      turns: clusters.reduce((sum, cluster) => sum + cluster.turns, 0),
      turnsWithoutPair: score.turnsWithoutPair,
      missing: score.missing,
      failed: score.failed,
      bounds: bounds && spanOf(bounds),
      errorBounds: errorBounds && spanOf(errorBounds),
    });
  }
  return { tested, clusters: found };
}

/**
 * A verdict on each test, corrected for the number of all of them. `what` is what their number
 * counts, in words for the reasons. `headline` is the score that matters most, if there is one.
 */
export async function decideVerdicts(
  tested: TestedScore[],
  { what, headline, pause }: { what: string; headline?: string } & Pick<TestOptions, "pause">,
): Promise<ScoreComparison[]> {
  const weights = weighTests(tested.map(({ name }) => name), headline);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const asCounted = holm(tested.map(({ worstP }) => worstP), weights);
  const adjusted = holm(tested.map(({ worstPIfAnswered }) => worstPIfAnswered), weights);
  // Holm's steps end here: those that have no verdict share the whole level.
  const undecided = weights.reduce(
    (sum, weight, index) => adjusted[index]! > ALPHA ? sum + weight : sum,
    0,
  );
  const decided: ScoreComparison[] = [];
  for (const [index, score] of tested.entries()) {
    decided.push(describeScore(score, {
      p_adjusted: adjusted[index]!,
      pAsCounted: asCounted[index]!,
      leastLevel: ALPHA * weights[index]! / total,
      level: ALPHA * weights[index]! / undecided,
      looked: tested.length,
      what,
    }));
    await pause();
  }
  return decided;
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
  score: TestedScore,
  { p_adjusted, pAsCounted, leastLevel, ...family }: {
    p_adjusted: number;
    pAsCounted: number;
    /** What the test is held to if no other has a verdict. */
    leastLevel: number;
  } & Pick<Evidence, "level" | "looked" | "what">,
): ScoreComparison {
  const { baseline, candidate, differences, test, bounds, errorBounds, missing, failed } = score;
  const evidence = { ...score, ...family, pAsCounted };
  const decided = decideVerdict(differences, { ...evidence, p_adjusted });
  const planning = decided.verdict === "inconclusive" &&
    planScenarios(differences, { alpha: leastLevel, bounds: errorBounds ?? bounds });
  return {
    baseline,
    candidate,
    difference: candidate - baseline,
    ci95: test.interval,
    p: test.p,
    p_adjusted,
    ...decided,
    scenarios: differences.length,
    turns: score.turns,
    turns_without_pair: score.turnsWithoutPair,
    missing,
    difference_bounds: bounds,
    ...(errorBounds && {
      failed,
      difference_error_bounds: errorBounds,
      verdict_as_counted:
        decideVerdict(differences, { ...evidence, p_adjusted: pAsCounted }).verdict,
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
