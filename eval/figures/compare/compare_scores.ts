import { mean } from "../../score/mean.ts";
import { ALPHA } from "../summary/mean_interval.ts";
import { tooFew } from "../summary/statistics.ts";
import {
  type Cluster,
  type ClusteredScore,
  clusterScore,
  groupByQuestion,
  type ScenarioPair,
} from "./statistics/clusters.ts";
import type { LeftOutCounter, MovedScenario, ScoreComparison } from "../comparison.ts";
import {
  type CorrectedTest,
  holm,
  shiftUnequal,
  signFlips,
  testedInterval,
  type TestOptions,
} from "./statistics/permutation.ts";
import { ROUNDING } from "../../test/rounding.ts";

/** How many scenarios `mostMoved` lists per direction. */
const SHOWN_MOVED = 10;

/** The differences of the scenarios by one score, and the p-value of their mean. */
export interface Test {
  differences: number[];
  p: number;
}

/** The test of one score before any correction. Turns that failed or lack it count 0. */
export interface TestedScore {
  score: string;
  /** The fields of the answer that do not depend on a correction. */
  means: Omit<ScoreComparison, "ci95" | "p">;
  test: Test;
}

/** The score that decides. */
export interface DecidingScore extends TestedScore {
  /** Without the turns that failed or lack the score. */
  known: Test;
  /** Without the turns that lack the score; those that failed count 0. */
  scored: Test;
  moved: { up: MovedScenario[]; down: MovedScenario[] };
}

/**
 * Tests each score over the scenarios that have it in both runs. Scores without such a scenario are
 * left out.
 */
export async function testScores(
  pairs: ScenarioPair[],
  { names, decideBy, leftOut, ...options }:
    & { names: string[]; decideBy: string; leftOut: LeftOutCounter }
    & TestOptions,
): Promise<{ deciding: DecidingScore | undefined; others: TestedScore[] }> {
  const groups = groupByQuestion(pairs);
  const keys = groups.map(([first]) => first!.key);
  // The sampled permutations depend on the order, which must not depend on which run is the baseline.
  const order = [...keys.keys()].sort((a, b) =>
    keys[a]! < keys[b]! ? -1 : Number(keys[a]! > keys[b]!)
  );
  const tests: Test[] = [];
  const inOrder: number[][] = [];

  /** Without the sign flips, which are drawn once for all scores. */
  async function startTest(clusters: Clusters): Promise<Test> {
    const sorted = found(order.map((position) => clusters[position]));
    const test = {
      differences: found(clusters).map(({ difference }) => difference),
      p: await shiftUnequal(sorted.map(({ attempts }) => attempts), options),
    };
    tests.push(test);
    inOrder.push(sorted.map(({ difference }) => difference));
    return test;
  }

  let deciding: DecidingScore | undefined;
  const others: TestedScore[] = [];
  for (const score of names) {
    const { clusters, known, scored, ...counts } = await clusterScore(groups, score, {
      leftOut,
      ...options,
    });
    const all = found(clusters);
    if (all.length === 0) continue;
    const tested = { score, means: describeMeans(all, counts), test: await startTest(clusters) };
    if (score !== decideBy) others.push(tested);
    else {
      const knownTest = known === clusters ? tested.test : await startTest(known);
      const same = scored === clusters ? tested.test : scored === known ? knownTest : undefined;
      deciding = {
        ...tested,
        known: knownTest,
        scored: same ?? await startTest(scored),
        moved: mostMoved(all),
      };
    }
  }
  const flipped = await signFlips(inOrder, options);
  for (const [index, test] of tests.entries()) test.p = Math.max(test.p, flipped[index]!);
  return { deciding, others };
}

type Clusters = (Cluster | undefined)[];

function found(clusters: Clusters): Cluster[] {
  return clusters.filter((cluster) => cluster !== undefined);
}

function describeMeans(
  clusters: Cluster[],
  { turnsWithoutPair, missing, failed }: Omit<ClusteredScore, "clusters" | "known" | "scored">,
): TestedScore["means"] {
  const baseline = mean(clusters.map((cluster) => cluster.baseline))!;
  const candidate = mean(clusters.map((cluster) => cluster.candidate))!;
  const has = (count: typeof missing) => count.baseline + count.candidate > 0;
  return {
    ...{ baseline, candidate, difference: candidate - baseline },
    scenarios: clusters.length,
    turns: clusters.reduce((sum, { turns }) => sum + turns, 0),
    turns_without_pair: turnsWithoutPair,
    ...(has(missing) && { missing }),
    ...(has(failed) && { failed }),
  };
}

/** A test after the correction for the number of tests. */
export interface Evidence extends Test {
  corrected: CorrectedTest;
  tests: number;
}

/** Holm's correction of tests that decide together. */
export function correct(tests: Test[]): Evidence[] {
  return holm(tests.map(({ p }) => p), ALPHA).map((corrected, index) => ({
    ...tests[index]!,
    corrected,
    tests: tests.length,
  }));
}

/** A score in the answer. */
export function describeScore(
  means: TestedScore["means"],
  { differences, p, corrected }: Evidence,
): ScoreComparison {
  const ci95 = testedInterval(differences, { p, alpha: corrected.level });
  const { baseline, candidate, difference, ...rest } = means;
  return {
    ...{ baseline, candidate, difference },
    ci95,
    ...(!ci95 && { ci95_reason: tooFew(differences.length) }),
    p: corrected.p,
    ...rest,
  };
}

/** The scenarios with the largest differences in each direction, the largest first. */
function mostMoved(clusters: Cluster[]): DecidingScore["moved"] {
  const furthest = (direction: 1 | -1) =>
    clusters.filter(({ difference }) => direction * difference > ROUNDING)
      .sort((a, b) => direction * (b.difference - a.difference))
      .slice(0, SHOWN_MOVED)
      .map(({ id, baseline, candidate, difference }) => ({
        scenario_id: id,
        ...{ baseline, candidate, difference },
      }));
  return { up: furthest(1), down: furthest(-1) };
}
