import { z } from "zod";
import { InteractionResult } from "../../test/interaction_result.ts";
import { PairedScenarioRow, PairedTurnRow } from "../../figures/pair_lists.ts";
import { TurnRow } from "../../run/turn_view.ts";

/** One turn, with the conversation that led to it. */
export const ShownTurn = TurnRow.omit({ interaction: true }).extend({
  run_id: z.string(),
  pass_threshold: z.number(),
  description: z.string(),
  interaction: InteractionResult,
  /** The turns of the attempt up to this one, at most 100 of them or about a megabyte. */
  conversation: z.array(TurnRow),
  /** How many turns before these are left out. */
  omitted: z.int(),
}).meta({ id: "ShownTurn" });
export type ShownTurn = z.infer<typeof ShownTurn>;

/** A scenario with each of its attempts. */
export const ScenarioRow = z.object({
  scenario: z.int(),
  scenario_id: z.string(),
  description: z.string(),
  attempts: z.array(z.object({
    attempt_id: z.int(),
    turns: z.int(),
    passed: z.int(),
    below: z.int(),
    failed: z.int(),
    missing: z.int(),
    mean: z.number().nullable(),
    standing: z.enum(["passed", "failed", "unscored"]),
  })),
});
export type ScenarioRow = z.infer<typeof ScenarioRow>;

/** What every page of rows says. `total` is `null` if it is not counted. */
const Paging = z.object({ total: z.int().nullable(), next_cursor: z.string().nullable() });

export const TurnPage = Paging.extend({ turns: z.array(TurnRow) });
export type TurnPage = z.infer<typeof TurnPage>;

/** Turns with a text, by run; `next_cursor` as in other lists. */
export const TurnSearch = z.object({
  runs: z.array(z.object({
    run_id: z.string(),
    test_name: z.string(),
    model_id: z.string(),
    name: z.string().optional().meta({ description: "What the group calls the model." }),
    created_at: z.string(),
    /** The first ones, with their texts. */
    turns: z.array(TurnRow),
    has_more: z.boolean(),
  })),
  next_cursor: z.string().nullable(),
}).meta({ id: "TurnSearch" });
export type TurnSearch = z.infer<typeof TurnSearch>;

export const ScenarioPage = Paging.extend({ scenarios: z.array(ScenarioRow) });
export type ScenarioPage = z.infer<typeof ScenarioPage>;

export const PairedScenarioPage = Paging.extend({ scenarios: z.array(PairedScenarioRow) });
export type PairedScenarioPage = z.infer<typeof PairedScenarioPage>;

export const PairedTurnPage = Paging.extend({ turns: z.array(PairedTurnRow) });
export type PairedTurnPage = z.infer<typeof PairedTurnPage>;
