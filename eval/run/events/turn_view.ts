import { z } from "zod";
import { firstTurnOf } from "../../schemas/conversations.ts";
import { Scores } from "../../schemas/statistics.ts";
import { listedOutcomeOf } from "../../results/outcome.ts";
import { type IndexedTurn, TURN_OUTCOMES } from "../../store/runs/list_query.ts";
import { isInRanges, TurnFacets } from "../../store/turns/turn_record.ts";
import type { RunOutline } from "../manager/run_outlines.ts";

/** A turn in a list. Positions are as in the events of a run. */
export const TurnRow = z.object({
  /** The position of the scenario in the batch, counted from 0. */
  scenario: z.int(),
  scenario_id: z.string(),
  attempt_id: z.int(),
  /** The position in the conversation, counted from 0. */
  turn: z.int(),
  /** The order of storing within the run, from 1. */
  seq: z.int(),
  interaction_id: z.string(),
  /**
   * It was asked a second time, after the references (`history: "both"`); no part of the averages.
   */
  history_of: z.literal("reference").optional(),
  outcome: z.enum(TURN_OUTCOMES),
  scores: Scores,
  labels: TurnFacets.shape.labels,
  /** The code of a failed call. */
  error: z.string().optional(),
  differs_in: TurnFacets.shape.differs_in,
  agreement: TurnFacets.shape.agreement,
  barred_by: TurnFacets.shape.barred_by,
  may_be_barred: TurnFacets.shape.may_be_barred,
  overall_bounds: TurnFacets.shape.overall_bounds,
  latency_ms: z.number(),
  tokens: z.number().nullable(),
  /** With `siblings`: the outcome of this turn in each attempt, `null` if it was not asked yet. */
  attempts: z.array(z.enum(TURN_OUTCOMES).nullable()).optional(),
  /** The fields asked for. */
  interaction: z.looseObject({}).optional(),
}).meta({ id: "TurnRow" });
export type TurnRow = z.infer<typeof TurnRow>;

/** The name that means every field. */
export const ALL_FIELDS = "all";

/** What of an interaction is added to a row. */
interface RowFields {
  /** `all` for all of them. */
  names: string[];
  /** Of each text; longer ones are cut. */
  maxChars?: number | undefined;
}

export function viewTurn(
  turn: IndexedTurn,
  { outline, threshold = outline.passThreshold, fields }: {
    outline: RunOutline;
    threshold?: number | undefined;
    fields: RowFields;
  },
): TurnRow {
  const { id, ...facets } = turn.facets;
  // Nobody knows whether the reply of a failed call would have met its required checks.
  const isOpen = turn.failed && isInRanges(turn, outline.required);
  return {
    scenario: turn.scenario,
    scenario_id: outline.scenarios[turn.scenario]?.id ?? "",
    attempt_id: turn.attempt + 1,
    turn: turn.turn,
    seq: turn.seq,
    interaction_id: id,
    ...(firstTurnOf(outline, turn.attempt) > 0 && { history_of: "reference" as const }),
    outcome: listedOutcomeOf(turn, threshold),
    ...facets,
    ...(isOpen && { may_be_barred: true as const }),
    ...(turn.resultJson !== undefined && fields.names.length > 0 && {
      interaction: pickFields(JSON.parse(turn.resultJson), fields),
    }),
  };
}

function pickFields(
  result: Record<string, unknown>,
  { names, maxChars = Infinity }: RowFields,
): Record<string, unknown> {
  const isWanted = names.includes(ALL_FIELDS) ? () => true : (name: string) => names.includes(name);
  const cut = (value: unknown) =>
    typeof value === "string" && value.length > maxChars ? `${value.slice(0, maxChars)}…` : value;
  return Object.fromEntries(
    Object.entries(result).filter(([name]) => isWanted(name))
      .map(([name, value]) => [name, cut(value)]),
  );
}
