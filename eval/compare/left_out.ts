import { z } from "zod";

/**
 * Why a score was not compared at a turn. `missing`: planned, but without a value. `not_in`: one
 * run was not to have it at all. `other_method`: both have it, computed in different ways.
 * `other_expectation`: both have it, measured against different references, labels, checks or tools.
 * `no_common_part`: it is a mean, and none of its parts can be compared.
 */
export const LeftOutReason = z.enum([
  "missing_in_baseline",
  "missing_in_candidate",
  "missing_in_both",
  "not_in_baseline",
  "not_in_candidate",
  "other_method",
  "other_expectation",
  "no_common_part",
]);
export type LeftOutReason = z.infer<typeof LeftOutReason>;

/** A score, or a part of one, that was not compared at some of the turns that both runs have. */
export const LeftOut = z.object({
  score: z.string(),
  turns: z.number(),
  reason: LeftOutReason,
  /** The methods, if they differ. */
  detail: z.string().nullable(),
}).meta({ id: "LeftOut" });
export type LeftOut = z.infer<typeof LeftOut>;

/** Collects what is left out; a turn counts once for a score. */
export interface LeftOutCounter {
  add(score: string, found: { reason: LeftOutReason; detail?: string; turn: object }): void;
  list(): LeftOut[];
}

export function createLeftOutCounter(): LeftOutCounter {
  const counted = new Map<string, Omit<LeftOut, "turns"> & { turns: Set<object> }>();
  return {
    add(score, { reason, detail = null, turn }) {
      const key = JSON.stringify([score, reason, detail]);
      const known = counted.get(key);
      if (known) known.turns.add(turn);
      else counted.set(key, { score, reason, detail, turns: new Set([turn]) });
    },
    list: () =>
      [...counted.values()].map(({ score, turns, reason, detail }) => ({
        score,
        turns: turns.size,
        reason,
        detail,
      })),
  };
}
