import { z } from "zod";
import type { Statistic } from "../schemas/statistics.ts";

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
