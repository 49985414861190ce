import { ROUNDING } from "../../shared/rounding.ts";
import { mean } from "../assess/mean.ts";
import { unseenInterval } from "../results/mean_interval.ts";
import { studentT95 } from "../results/student_t.ts";

/** A difference at one turn of a scenario. */
export interface TurnDifference {
  scenario: number;
  value: number;
}

/**
 * The mean of some differences, with a 95 % interval whose standard error is clustered by scenario:
 * turns of one scenario are no independent evidence. `null` if there is nothing, or one scenario. If
 * scenarios do not differ, see `unseenInterval`.
 */
export function meanDifference(
  differences: TurnDifference[],
): { mean: number; ci95: [number, number] | null } | null {
  const average = mean(differences.map(({ value }) => value));
  if (average === null) return null;
  const clusters = [...Map.groupBy(differences, ({ scenario }) => scenario).values()];
  if (clusters.length < 2) return { mean: average, ci95: null };
  const squares = clusters.reduce((sum, cluster) => {
    const residual = cluster.reduce((sum, { value }) => sum + value - average, 0);
    return sum + residual ** 2;
  }, 0);
  const factor = clusters.length / (clusters.length - 1);
  const stderr = Math.sqrt(factor * squares) / differences.length;
  if (stderr < ROUNDING) return { mean: average, ci95: unseenInterval(average, clusters.length) };
  const half = studentT95(clusters.length - 1) * stderr;
  return { mean: average, ci95: [Math.max(-1, average - half), Math.min(1, average + half)] };
}
