import { z } from "zod";

/** The total number needed, and the additional calls that this takes. */
export const Halving = z.object({
  needed: z.int(),
  model_calls: z.int(),
  judge_calls: z.int(),
}).meta({ id: "Halving" });
export type Halving = z.infer<typeof Halving>;

/**
 * Three ways to halve the standard error: more similar scenarios, more attempts at each, or more
 * votes on each turn. `null` if this is not possible, because the other components alone are more
 * than half. `cheapest` takes the fewest calls.
 */
export const Halvings = z.object({
  scenarios: Halving.nullable(),
  attempts: Halving.nullable(),
  votes: Halving.nullable(),
  cheapest: z.enum(["scenarios", "attempts", "votes"]).nullable(),
}).meta({ id: "Halvings" });
export type Halvings = z.infer<typeof Halvings>;

/**
 * One source of noise in the score of a single conversation. `estimate` is unbiased and may be
 * negative if the true value is near 0; `variance` is the same, but never below 0. `share` is its
 * part of the variance of a single conversation with one vote on each turn, `share_of_mean` its
 * part of the variance of the run's mean.
 */
export const NoiseComponent = z.object({
  variance: z.number(),
  estimate: z.number(),
  share: z.number(),
  share_of_mean: z.number(),
}).meta({ id: "NoiseComponent" });
export type NoiseComponent = z.infer<typeof NoiseComponent>;

/** Where the noise of one score comes from. */
export const ScoreNoise = z.object({
  /** Over scenarios with equal weight. */
  mean: z.number(),
  /** From the components; equals that in `statistics` unless one of them was negative. */
  stderr: z.number().nullable(),
  scenarios: z.int(),
  /** Of all scenarios together. */
  conversations: z.int(),
  /** `null` if the run does not show it; `notes` says why. */
  components: z.object({
    scenario: NoiseComponent.nullable(),
    attempt: NoiseComponent.nullable(),
    vote: NoiseComponent.nullable(),
  }),
  to_halve_stderr: Halvings,
  notes: z.array(z.string()),
}).meta({ id: "ScoreNoise" });
export type ScoreNoise = z.infer<typeof ScoreNoise>;

/** The answer of `GET /runs/{id}/noise`. */
export const RunNoise = z.object({
  run_id: z.string(),
  scores: z.record(z.string(), ScoreNoise),
  method: z.string(),
}).meta({ id: "RunNoise" });
export type RunNoise = z.infer<typeof RunNoise>;
