import type { Cluster } from "./clusters.ts";
import type { MovedScenario } from "./comparison.ts";

const SHOWN = 10;
/** Means of the same values in another order differ by rounding; that is no movement. */
const ROUNDING = 1e-12;

/** The scenarios that moved most, either way, the furthest first. */
export function mostMoved(clusters: Cluster[]): { up: MovedScenario[]; down: MovedScenario[] } {
  const moved = clusters.map(({ id, baseline, candidate }): MovedScenario => ({
    scenario_id: id,
    baseline,
    candidate,
    difference: candidate - baseline,
  })).sort((a, b) => b.difference - a.difference);
  return {
    up: moved.filter(({ difference }) => difference > ROUNDING).slice(0, SHOWN),
    down: moved.filter(({ difference }) => difference < -ROUNDING).reverse().slice(0, SHOWN),
  };
}
