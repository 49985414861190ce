import { z } from "zod";
import type { Statistic } from "../test/statistics.ts";
import { invalidParameter } from "../../shared/service/errors.ts";

/** How detailed an answer is. Without `full` each mean has only its interval. */
export const Detail = z.literal("full").optional();
export type Detail = z.infer<typeof Detail>;

/** Removes the statistics that only `detail=full` has. */
export function inDetail(
  statistics: Record<string, Statistic>,
  detail: Detail,
): Record<string, Statistic> {
  if (detail === "full") return statistics;
  return Object.fromEntries(
    Object.entries(statistics).map((
      [name, { n, turns, failed, missing, mean, ci95, ci95_reason }],
    ) => [name, {
      ...{ n, turns, failed, missing, mean, ci95 },
      ...(ci95_reason !== undefined && { ci95_reason }),
    }]),
  );
}

/** Throws 400 for a wanted score that is not among the `names` of a run. */
export function requireScores(
  names: ReadonlySet<string>,
  { wanted, parameter }: { wanted: string[]; parameter: string },
): void {
  const unknown = wanted.filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  const message = `the run has no ${unknown.join(", ")}; its scores are ${[...names].join(", ")}`;
  throw invalidParameter(parameter, message);
}
