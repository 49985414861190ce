import type { Generated, Kysely } from "kysely";
import type { Gate, RunStatus } from "../run_record.ts";

/** The tables of both databases, as `create_tables.ts` creates them. Times are milliseconds since 1970. */
export interface Tables {
  runs: RunsTable;
  turns: TurnsTable;
  caller_keys: CallerKeysTable;
  service_state: ServiceStateTable;
  run_tags: RunTagsTable;
  grades: GradesTable;
  datasets: DatasetsTable;
  dataset_versions: DatasetVersionsTable;
  dataset_parts: DatasetPartsTable;
  leak_checks: LeakChecksTable;
}

interface DatasetsTable {
  name: string;
  /** The version that the name alone refers to. */
  latest: string;
  updated_at: number;
  /** A list as JSON. */
  tags: string;
}

export interface DatasetVersionsTable {
  name: string;
  /** See `digestBatch`. */
  version: string;
  /** Sorts in the order of writing. */
  content_id: string;
  created_at: number;
  scenarios: number;
  turns: number;
  bytes: number;
}

/** The scenarios of a version. Parts without a version belong to an upload that has not ended. */
interface DatasetPartsTable {
  content_id: string;
  position: number;
  /** Scenarios as JSON, one per line. */
  lines: string;
}

/** Training files that a version was compared with. */
export interface LeakChecksTable {
  /** Of the dataset; whatever the dataset is called. */
  version: string;
  /** Of the file. */
  digest: string;
  file: string;
  line_count: number;
  checked_at: number;
  /** `FoundLeaks` as JSON. */
  found: string;
}

/** Names that people give to runs. */
interface RunTagsTable {
  name: string;
  run_id: string;
}

/** Grades by people: one of each author and turn. */
export interface GradesTable {
  run_id: string;
  scenario: number;
  attempt: number;
  turn: number;
  /** Empty for grades without an author. */
  author: string;
  value: number;
  label: string | null;
  comment: string | null;
  corrected_reply: string | null;
  created_at: number;
}

/** Values that the service keeps for itself. */
interface ServiceStateTable {
  name: string;
  value: string;
}

export interface RunsTable {
  id: string;
  parent_id: string | null;
  status: RunStatus;
  detail: string | null;
  test_name: string;
  model_id: string;
  endpoint: string | null;
  attempts: number;
  total_turns: number;
  created_at: number;
  finished_at: number | null;
  tally: string | null;
  request: string;
  /** The digest of the batch (`digestBatch`), not a stored dataset. */
  dataset: string;
  /** Of the dataset that the request names; `null` if it has a batch instead. */
  dataset_name: string | null;
  gate: Gate | null;
  /** The group, the run's place in it and the model's name there; `null` if it is in none. */
  group_id: string | null;
  group_index: number | null;
  group_name: string | null;
  /** The mean `overall` of an ended run; `null` if it has none, or is not summarised yet. */
  overall: number | null;
  /** A `RunHeadline` as JSON; `null` until the ended run is first listed or shown. */
  headline: string | null;
  /** A `RunSummary` as JSON; written together with the headline. */
  summary: string | null;
}

export interface TurnsTable {
  run_id: string;
  scenario: number;
  attempt: number;
  turn: number;
  /** The order of storing within the run, from 1. */
  seq: number;
  failed: 0 | 1;
  /** 1 if the turn should have an `overall` and has none. */
  missing: 0 | 1;
  overall: number | null;
  took_ms: number;
  result: string;
  /** `TurnFacets` as JSON. PostgreSQL's drivers read them as an object. */
  facets: string;
}

interface CallerKeysTable {
  /** A digest of the caller's API key; empty if the service has none. */
  caller: string;
  idempotency_key: string;
  body_hash: string;
  /** Of the run, or of the group if the request named several models. */
  run_id: string;
  created_at: number;
}

/** The tables in PostgreSQL, where several processes work on the same runs. */
export interface PostgresTables extends Omit<Tables, "runs"> {
  runs: RunsTable & SharedColumns;
  endpoint_paces: EndpointPacesTable;
}

interface SharedColumns {
  /** The newest `seq` of the run. Raising it locks the run's row, so turns commit in order. */
  last_seq: Generated<number>;
}

/** Concurrent calls that an endpoint allows, as its latest 429 showed. */
interface EndpointPacesTable {
  origin: string;
  concurrency: number;
  /** The process that was told 429. */
  changed_by: string;
  changed_at: Date;
}

/** The common part: the queries of both databases are written for it. */
export function asCommon(db: Kysely<PostgresTables>): Kysely<Tables> {
  return db as unknown as Kysely<Tables>;
}
