import { z } from "zod";

export const Cost = z.object({
  amount: z.number(),
  /** ISO 4217, such as `USD`. */
  currency: z.string(),
}).meta({ id: "Cost" });
export type Cost = z.infer<typeof Cost>;

/**
 * The cost of several turns. `amount` is that of the `turns` with a known cost; `null` without any.
 */
export const CostSum = z.object({
  amount: z.number().nullable(),
  currency: z.string().nullable(),
  turns: z.number(),
  /** Turns without a known cost: the model has no price, or the endpoint did not report tokens. */
  unknown: z.number(),
}).meta({ id: "CostSum" });
export type CostSum = z.infer<typeof CostSum>;

const PerMillion = z.number().min(0);

/** The price of a model per million tokens. */
export const Price = z.strictObject({
  input: PerMillion,
  /** For input tokens that the provider had in its cache; `input` if unset. */
  cached_input: PerMillion.optional(),
  output: PerMillion,
  currency: z.string().regex(/^[A-Z]{3}$/, { error: "must be a code such as USD" }).default("USD"),
});
export type Price = z.infer<typeof Price>;
