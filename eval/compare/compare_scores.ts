import { createPacer } from "../pacer.ts";
import { mean } from "../statistics.ts";
import { type ClusteredScore, clusterScore, type ScenarioPair } from "./clusters.ts";
import type { ScoreComparison } from "./comparison.ts";
import { holm } from "./holm.ts";
import { signFlip, type SignFlipResult } from "./sign_flip.ts";
import { judge } from "./verdict.ts";

/**
 * Tests each score over the scenarios that have it in both runs, then corrects for their number. A
 * score that no scenario has in both is left out.
 */
export async function compareScores(
  pairs: ScenarioPair[],
  { names, seed }: { names: string[]; seed: number },
): Promise<Record<string, ScoreComparison>> {
  const pause = createPacer();
  const tested: { name: string; score: ClusteredScore; test: SignFlipResult }[] = [];
  for (const name of names) {
    const score = clusterScore(pairs, name);
    if (score.clusters.length === 0) continue;
    const differences = score.clusters.map(({ baseline, candidate }) => candidate - baseline);
    tested.push({ name, score, test: await signFlip(differences, { seed, pause }) });
  }
  const adjusted = holm(tested.map(({ test }) => test.p));
  return Object.fromEntries(
    tested.map(({ name, score: { clusters, turnsWithoutPair }, test }, index) => {
      const baseline = mean(clusters.map((cluster) => cluster.baseline))!;
      const candidate = mean(clusters.map((cluster) => cluster.candidate))!;
      const p_adjusted = adjusted[index]!;
      return [name, {
        baseline,
        candidate,
        difference: candidate - baseline,
        ci95: test.interval,
        p: test.p,
        p_adjusted,
        ...judge(clusters, { p: test.p, p_adjusted, looked: tested.length }),
        scenarios: clusters.length,
        turns: clusters.reduce((sum, cluster) => sum + cluster.turns, 0),
        turns_without_pair: turnsWithoutPair,
      }];
    }),
  );
}
