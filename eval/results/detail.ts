import { z } from "zod";
import type { Statistic } from "../schemas/statistics.ts";
import { invalidParameter } from "../../shared/errors.ts";

/** How much an answer says. Without `full` each mean has one interval and nothing else about it. */
export const Detail = z.literal("full").optional();
export type Detail = z.infer<typeof Detail>;

/** Statistics by score, without what only `detail=full` has. */
export function inDetail(
  statistics: Record<string, Statistic>,
  detail: Detail,
): Record<string, Statistic> {
  if (detail === "full") return statistics;
  return Object.fromEntries(
    Object.entries(statistics).map((
      [name, { n, turns, failed, missing, mean, bounds, ci95, ci95_reason }],
    ) => [name, {
      ...{ n, turns, failed, missing, mean, bounds, ci95 },
      ...(ci95_reason !== undefined && { ci95_reason }),
    }]),
  );
}

/** Throws 400 for a score that is not among the `names` of a run. `parameter` has asked for it. */
export function requireScores(
  names: ReadonlySet<string>,
  { wanted, parameter }: { wanted: string[]; parameter: string },
): void {
  const unknown = wanted.filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  const message = `the run has no ${unknown.join(", ")}; its scores are ${[...names].join(", ")}`;
  throw invalidParameter(parameter, message);
}
