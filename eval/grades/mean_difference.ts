import { ROUNDING } from "../../shared/rounding.ts";
import { mean } from "../assess/mean.ts";
import { differenceInterval, spreadOf, unseenInterval } from "../results/mean_interval.ts";

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
  const spread = spreadOf(clusters.map((own) => own.map(({ value }) => value)));
  const ci95 = spread.stderr < ROUNDING
    ? unseenInterval(average, clusters.length)
    : differenceInterval(spread);
  return { mean: average, ci95 };
}
