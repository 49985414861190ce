import { mean } from "../statistics.ts";
import type { Paired, ReachedTurn } from "./pairing.ts";
import { turnMean } from "./tally.ts";

/** Two scenarios that belong together, and their turns that do. */
export interface ScenarioPair {
  id: string;
  /** Equal for pairs that are the same scenario, listed twice; see `ReachedScenario`. */
  fingerprint: string;
  turns: Paired<ReachedTurn>["pairs"];
}

/** One scenario's score in both runs: the unit that the test counts as independent. */
export interface Cluster {
  id: string;
  baseline: number;
  candidate: number;
  turns: number;
}

/** One score by scenario. */
export interface ClusteredScore {
  clusters: Cluster[];
  /** Paired turns where only one run has the score. */
  turnsWithoutPair: number;
}

/**
 * A score by scenario. Attempts and turns of one scenario are no independent evidence, and neither
 * is a scenario that stands in the batch twice, so each scenario becomes one pair of means however
 * many attempts either run made of it.
 */
export function clusterScore(pairs: ScenarioPair[], score: string): ClusteredScore {
  const clusters: Cluster[] = [];
  let turnsWithoutPair = 0;
  for (const group of Map.groupBy(pairs, (pair) => pair.fingerprint).values()) {
    const baseline: number[] = [];
    const candidate: number[] = [];
    for (const turn of group.flatMap((pair) => pair.turns)) {
      const { one, other } = bothMeans(turn, score);
      if (one !== null && other !== null) {
        baseline.push(one);
        candidate.push(other);
      } else if (one !== other) turnsWithoutPair++;
    }
    if (baseline.length === 0) continue;
    clusters.push({
      id: group[0]!.id,
      baseline: mean(baseline)!,
      candidate: mean(candidate)!,
      turns: baseline.length,
    });
  }
  return { clusters, turnsWithoutPair };
}

function bothMeans({ baseline, candidate }: ScenarioPair["turns"][number], score: string) {
  return {
    one: turnMean(baseline.tally, { score, counterpart: candidate.tally }),
    other: turnMean(candidate.tally, { score, counterpart: baseline.tally }),
  };
}
