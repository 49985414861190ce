import { z } from "zod";

/** How far a run has come, as callers see it. */
export const RunProgress = z.object({
  done: z.int(),
  failed: z.int(),
  /** Answered turns whose `overall` could not be computed. */
  missing: z.int(),
  total: z.int(),
  /** The mean `overall` so far, of the turns that count; `null` if values are missing. */
  mean: z.number().nullable(),
  /** The remaining time at the speed so far; `null` before the first turn. */
  eta_ms: z.number().nullable(),
}).meta({ id: "RunProgress" });
export type RunProgress = z.infer<typeof RunProgress>;

/** The mean so far, unless values are missing: a mean of the rest would rise with what breaks. */
export function knownMean({ missing, mean }: Pick<RunProgress, "missing" | "mean">): number | null {
  return missing > 0 ? null : mean;
}
