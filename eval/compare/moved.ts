import { type Cluster, clusterMean } from "./clusters.ts";
import type { MovedScenario } from "./comparison.ts";

const SHOWN = 10;
/** Means of the same values in another order differ by rounding; that is no movement. */
const ROUNDING = 1e-12;

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
      .slice(0, SHOWN);
  return { up: furthest(1), down: furthest(-1) };
}
