import type { AgreementLabel } from "../test/interaction_result.ts";
import type { TurnFacets, TurnPosition } from "./turn_record.ts";

// What lists of runs and turns can be asked for.

/** What runs can be sorted by. `created_at` is the order of their ids. */
export const RUN_SORTS = [
  "created_at",
  "test_name",
  "model_id",
  "status",
  "overall",
  "duration",
] as const;
export type RunSortKey = (typeof RUN_SORTS)[number];

export interface RunSort {
  by: RunSortKey;
  isDescending: boolean;
}

/** The last run of a page: the next page begins after it. */
export interface RunCursor {
  id: string;
  /** What the run is sorted by; `null` if it has none. Runs without a value come last. */
  value: string | number | null;
}

/**
 * What becomes of a turn, for a threshold of its `overall`. `unscored`: it was answered, but nothing
 * was expected of the answer. `missing`: it was answered, and a part of its score is missing.
 */
export const TURN_OUTCOMES = ["passed", "below", "failed", "missing", "unscored"] as const;
export type TurnOutcome = (typeof TURN_OUTCOMES)[number];

/** Conditions that a turn must all meet. */
export interface TurnFilter {
  outcome?: { oneOf: TurnOutcome[]; threshold: number } | undefined;
  /** A turn without the score is not found. */
  score?: { name: string } & Range | undefined;
  /** By metadata key: the label of the reference, that of the reply, or both. */
  label?: { key: string; expected?: string | undefined; found?: string | undefined } | undefined;
  /** Positions in the batch, counted from 0. */
  scenarios?: number[] | undefined;
  attempt?: number | undefined;
  turn?: number | undefined;
  /** This turn of each attempt and those before it. */
  lastTurn?: number | undefined;
  /** In the message, the reply or the reference, in any letter case. */
  text?: string | undefined;
  /** In milliseconds. */
  latency?: Range | undefined;
  agreement?: AgreementLabel | undefined;
  /** Whether it has a grade by a person. */
  graded?: boolean | undefined;
  /** `overall` differs by at least `by` from that of the turn at the same place of another run. */
  changed?: { from: string; by: number } | undefined;
}

/** Both ends are included. */
interface Range {
  min?: number | undefined;
  max?: number | undefined;
}

/** `position` is the order of the batch, `seq` that of storing; a score is given by its name. */
export type TurnSort =
  | { by: "position" | "seq" | "latency_ms" | "tokens"; isDescending: boolean }
  | { by: "score"; name: string; isDescending: boolean }
  /** First the lowest `overall` of each turn, then the next of so many attempts. */
  | { by: "worst"; attempts: number; isDescending: boolean };

/** The last turn of a page: the next page begins after it. */
export interface TurnCursor extends TurnPosition {
  /** What the turn is sorted by; `null` if it has none. Turns without a value come last. */
  value: number | null;
}

export interface TurnQuery {
  filter: TurnFilter;
  sort: TurnSort;
  after?: TurnCursor | undefined;
  limit: number;
  /** Also read the whole turns. A page with them has about a megabyte at most. */
  withResults: boolean;
}

export interface IndexedTurn extends TurnPosition {
  seq: number;
  failed: boolean;
  /** True if the turn should have an `overall` and has none. */
  missing: boolean;
  overall: number | null;
  facets: TurnFacets;
  /** What it is sorted by; set in lists. */
  value?: number | null;
  /** The `InteractionResult` as JSON text; set if results were asked for. */
  resultJson?: string;
}

export interface TurnQueryPage {
  turns: IndexedTurn[];
  /** `null` on the last page. A page may have fewer turns than its limit, also none. */
  next: TurnCursor | null;
}

/** One attempt at a scenario in numbers. */
export interface AttemptRow {
  scenario: number;
  attempt: number;
  turns: number;
  failed: number;
  missing: number;
  passed: number;
  below: number;
  /** The mean `overall` of the turns that have one. */
  mean: number | null;
}

/** Lists the turns of a run, also while it is running. */
export interface TurnQueries {
  queryTurns(runId: string, query: TurnQuery): Promise<TurnQueryPage>;
  /** How many turns meet the conditions; `text` is not supported. */
  countTurns(runId: string, filter: Omit<TurnFilter, "text">): Promise<number>;
  /** The turns of an attempt up to and including `turn`, at most the last `limit` of them. */
  conversation(runId: string, end: TurnPosition, limit: number): Promise<IndexedTurn[]>;
  /** The attempts at some scenarios, in the order of the batch. */
  attemptRows(
    runId: string,
    range: { from: number; to: number; threshold: number },
  ): Promise<AttemptRow[]>;
}

/** A run's summary as JSON texts, which the store does not look into. */
interface StoredSummary {
  overall: number | null;
  headline: string;
  summary: string;
}

/** Keeps what was computed of runs that have ended. */
export interface SummaryQueries {
  summary(runId: string): Promise<string | undefined>;
  /** Does nothing if the run has not ended at this time: it was resumed since. */
  saveSummary(run: { id: string; finishedAt: number }, summary: StoredSummary): Promise<void>;
}
