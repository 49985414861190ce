import { z } from "zod";

/** Score names to values in [0, 1]; `null` if a score does not apply. */
export const Scores = z.record(z.string(), z.number().nullable()).meta({ id: "Scores" });
export type Scores = z.infer<typeof Scores>;

/**
 * One score over many turns. `failed` turns count 0 in `mean`. `turns` is the number of turns
 * behind the mean; `n` is the number of values averaged, which for a whole run are its scenarios.
 * `missing` turns should have the score but it could not be computed; they are not in `mean`, and
 * `bounds` says what the mean would be with all of them at their lowest and at their highest
 * (`null` if none is missing). `error_bounds` says what it would be with failed turns at 0 and at
 * 1, and the missing as in `bounds`; absent if no turn failed. `stderr` is clustered by attempt if
 * turns of several attempts are pooled. `ci95` is a Wilson interval with the effective sample size
 * of the clusters, within [0, 1]. Both, and `stdev`, are `null` if there are fewer than two to
 * compare.
 */
export const Statistic = z.object({
  n: z.number(),
  turns: z.number(),
  failed: z.number(),
  missing: z.number(),
  bounds: z.tuple([z.number(), z.number()]).nullable(),
  mean: z.number().nullable(),
  mean_of_answered: z.number().nullable(),
  stdev: z.number().nullable(),
  stderr: z.number().nullable(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
  error_bounds: z.tuple([z.number(), z.number()]).optional(),
}).meta({ id: "Statistic" });
export type Statistic = z.infer<typeof Statistic>;

/** By the name of the score. */
export const Statistics = z.record(z.string(), Statistic).meta({ id: "Statistics" });

/**
 * How often a scenario's attempts reach the threshold on `overall`; keys of the records are k.
 * `undecided` attempts lack so much that they might pass or not: they are in none of the rates.
 */
export const PassRates = z.object({
  pass_threshold: z.number(),
  pass_rate: z.number().nullable(),
  pass_at_k: z.record(z.string(), z.number()),
  pass_hat_k: z.record(z.string(), z.number()),
  undecided: z.number(),
});
export type PassRates = z.infer<typeof PassRates>;

/** A mean over `n` scenarios; `ci95` is as in `Statistic`, `null` for one scenario. */
const RateOfScenarios = z.object({
  n: z.number(),
  mean: z.number(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
}).meta({ id: "RateOfScenarios" });

/**
 * The pass rates of a whole run: means over its scenarios, which count alike. `n` of a k is the
 * number of scenarios with at least k decided attempts. `pass_rate` is `null` if no attempt of any
 * scenario is decided; `undecided` counts attempts.
 */
export const RunPassRates = z.object({
  pass_threshold: z.number(),
  pass_rate: RateOfScenarios.nullable(),
  pass_at_k: z.record(z.string(), RateOfScenarios),
  pass_hat_k: z.record(z.string(), RateOfScenarios),
  undecided: z.number(),
});
export type RunPassRates = z.infer<typeof RunPassRates>;

/**
 * A score of the same turns after the generated replies and after the references. `gap` is
 * reference − generated: what is lost because earlier replies were wrong.
 */
export const ScenarioHistoryGap = z.object({
  generated: z.number(),
  reference: z.number(),
  gap: z.number(),
  turns: z.number(),
}).meta({ id: "ScenarioHistoryGap" });
export type ScenarioHistoryGap = z.infer<typeof ScenarioHistoryGap>;

/** The same over scenarios, which count alike; `ci95` is `null` for fewer than two. */
export const HistoryGap = ScenarioHistoryGap.extend({
  scenarios: z.number(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
}).meta({ id: "HistoryGap" });
export type HistoryGap = z.infer<typeof HistoryGap>;
