import { z } from "zod";

/** Score names to values in [0, 1]; `null` if a score does not apply. */
export const Scores = z.record(z.string(), z.number().nullable()).meta({ id: "Scores" });
export type Scores = z.infer<typeof Scores>;

const Span = z.tuple([z.number(), z.number()]);

/**
 * One score over many turns. `failed` turns and `missing` ones, which should have the score although
 * it could not be computed, count 0: retrying fills them. `n` is the number of values in the mean,
 * `turns` the number of turns with a value.
 *
 * `ci95` is over scenarios (of a scenario: over its attempts), at least 5 of them; else it is
 * `null`, and `ci95_reason` of a run says why. An attempt has none. The fields after it are sent
 * with `detail=full` only: the mean of the turns that have a value and did not fail; the spread.
 */
export const Statistic = z.object({
  n: z.number(),
  turns: z.number(),
  failed: z.number(),
  missing: z.number(),
  mean: z.number().nullable(),
  ci95: Span.nullable(),
  ci95_reason: z.string().optional(),
  mean_of_answered: z.number().nullable().optional(),
  stdev: z.number().nullable().optional(),
  stderr: z.number().nullable().optional(),
  min: z.number().nullable().optional(),
  max: z.number().nullable().optional(),
}).meta({ id: "Statistic" });
export type Statistic = z.infer<typeof Statistic>;

/** By the name of the score. */
export const Statistics = z.record(z.string(), Statistic).meta({ id: "Statistics" });

/**
 * How often a scenario's attempts pass; keys of the records are k. An attempt passes if all its
 * turns do; a failed call and a missing score do not.
 */
export const PassRates = z.object({
  pass_threshold: z.number(),
  pass_rate: z.number().nullable(),
  pass_at_k: z.record(z.string(), z.number()),
  pass_hat_k: z.record(z.string(), z.number()),
});
export type PassRates = z.infer<typeof PassRates>;

/** A mean over `n` scenarios. */
const MeanRate = z.object({ n: z.number(), mean: z.number() }).meta({ id: "MeanRate" });

/**
 * The pass rates of a run: means over its scenarios with equal weight. `n` of a k is the number of
 * scenarios with at least k attempts. `pass_rate` is `null` if no attempt of any scenario has a
 * score.
 */
export const RunPassRates = z.object({
  pass_threshold: z.number(),
  pass_rate: MeanRate.extend({
    ci95: Span.nullable(),
    ci95_reason: z.string().optional(),
  }).meta({ id: "PassRate" }).nullable(),
  pass_at_k: z.record(z.string(), MeanRate),
  pass_hat_k: z.record(z.string(), MeanRate),
});
export type RunPassRates = z.infer<typeof RunPassRates>;
