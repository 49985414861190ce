import { mean } from "../assess/mean.ts";
import { differenceInterval } from "../results/mean_interval.ts";

/** A difference at one turn of a scenario. */
interface TurnDifference {
  scenario: number;
  value: number;
}

/**
 * The mean of some differences, with a 95 % interval over scenarios: turns of one are no independent
 * evidence. `null` if there is nothing; without an interval for fewer than 5 scenarios.
 */
export function meanDifference(
  differences: TurnDifference[],
): { mean: number; ci95: [number, number] | null } | null {
  const average = mean(differences.map(({ value }) => value));
  if (average === null) return null;
  const scenarios = [...Map.groupBy(differences, ({ scenario }) => scenario).values()];
  const means = scenarios.map((own) => mean(own.map(({ value }) => value))!);
  return { mean: average, ci95: differenceInterval(means) };
}
