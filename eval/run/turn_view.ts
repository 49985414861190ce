import { z } from "zod";
import { causesOf } from "../figures/causes.ts";
import { listedOutcomeOf, thresholdOf } from "../figures/passing.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import { Scores } from "../test/statistics.ts";
import { type IndexedTurn, TURN_OUTCOMES } from "../store/list_query.ts";
import { requireRun } from "../store/require_run.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunStore } from "../store/store.ts";
import { facetName, TurnFacets } from "../store/turn_record.ts";
import type { RunManager } from "./manager.ts";

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
  outcome: z.enum(TURN_OUTCOMES),
  scores: Scores,
  labels: TurnFacets.shape.labels,
  /** The code of a failed call. */
  error: z.string().optional(),
  differs_in: TurnFacets.shape.differs_in,
  agreement: TurnFacets.shape.agreement,
  barred_by: TurnFacets.shape.barred_by,
  /** With `fields`: why it does not pass, the most certain cause first. */
  why: z.array(z.string()).optional(),
  latency_ms: z.number().nullable(),
  tokens: z.number().nullable(),
  /** With `siblings`: the outcome of this turn in each attempt, `null` if it was not asked yet. */
  attempts: z.array(z.enum(TURN_OUTCOMES).nullable()).optional(),
  /** The fields asked for. */
  interaction: z.looseObject({}).optional(),
}).meta({ id: "TurnRow" });
export type TurnRow = z.infer<typeof TurnRow>;

/** The name that means every field. */
export const ALL_FIELDS = "all";

/** Which fields of an interaction are added to a row. */
interface RowFields {
  /** `all` for all of them. */
  names: string[];
  /** The longest text, in characters; longer ones are cut. */
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
  return {
    scenario: turn.scenario,
    scenario_id: outline.scenarios[turn.scenario]?.id ?? "",
    attempt_id: turn.attempt + 1,
    turn: turn.turn,
    seq: turn.seq,
    interaction_id: id,
    outcome: listedOutcomeOf(turn, threshold),
    ...facets,
    ...(turn.resultJson !== undefined && fields.names.length > 0 &&
      readReply(JSON.parse(turn.resultJson), { threshold, fields })),
  };
}

function readReply(
  result: InteractionResult,
  { threshold, fields }: { threshold: number; fields: RowFields },
): Pick<TurnRow, "why" | "interaction"> {
  const why = causesOf(result, threshold).map(({ text }) => text);
  return { ...(why.length > 0 && { why }), interaction: pickFields(result, fields) };
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

/** What lists need of a run's request. */
export interface RunOutline {
  scenarios: { id: string; description: string; question: string }[];
  attempts: number;
  passThreshold: number;
  /** The keys of all turns, as `facetName` writes them. */
  metadataKeys: ReadonlySet<string>;
}

/** Outlines kept in memory: to read a request of megabytes for each page would take too long. */
const KEPT = 20;
const SHOWN_DESCRIPTION = 200;

export function outlineOf({ request, attempts }: StoredRun): RunOutline {
  return {
    scenarios: request.test_batch.map(({ id, description, interactions: [first] }) => ({
      id,
      description: description.slice(0, SHOWN_DESCRIPTION),
      question: first?.user_message.slice(0, SHOWN_DESCRIPTION) ?? "",
    })),
    attempts,
    passThreshold: thresholdOf(request),
    metadataKeys: new Set(
      request.test_batch.flatMap(({ interactions }) =>
        interactions.flatMap((turn) => Object.keys(turn.reference_metadata ?? {}).map(facetName))
      ),
    ),
  };
}

/** Throws 404 if no run has the id. */
export type ReadOutline = (runId: string) => Promise<RunOutline>;

/** Keeps outlines: they never change, because the request of a run does not. */
export function createRunOutlines(
  { store, runs }: { store: RunStore; runs: RunManager },
): ReadOutline {
  const known = new Map<string, RunOutline>();
  return async (runId) => {
    const kept = known.get(runId);
    if (kept && await store.getRecord(runId)) return kept; // unless the run was deleted
    known.delete(runId);
    const outline = outlineOf(runs.active(runId)?.run ?? await requireRun(store, runId));
    known.set(runId, outline);
    if (known.size > KEPT) known.delete(known.keys().next().value!);
    return outline;
  };
}
