import type { RunStatus } from "./store.ts";

/** The tables, as `migrations.ts` makes them. Moments are milliseconds since 1970. */
export interface Tables {
  runs: RunsTable;
  turns: TurnsTable;
  idempotency_keys: IdempotencyKeysTable;
}

export interface RunsTable {
  id: string;
  parent_id: string | null;
  status: RunStatus;
  detail: string | null;
  test_name: string;
  model_id: string;
  endpoint: string;
  attempts: number;
  total_turns: number;
  created_at: number;
  finished_at: number | null;
  tally: string | null;
  request: string;
}

export interface TurnsTable {
  run_id: string;
  scenario: number;
  attempt: number;
  turn: number;
  /** The order of storing within the run, from 1. */
  seq: number;
  failed: 0 | 1;
  /** Whether the turn should have an `overall` and has none. */
  missing: 0 | 1;
  overall: number | null;
  took_ms: number;
  result: string;
}

export interface IdempotencyKeysTable {
  idempotency_key: string;
  body_hash: string;
  run_id: string;
  created_at: number;
}
