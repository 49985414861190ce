import type { Generated, Kysely } from "kysely";
import type { RunsTable, Tables } from "../schema/schema.ts";

/** The tables in PostgreSQL, where several processes work on the same runs. */
export interface PostgresTables extends Omit<Tables, "runs"> {
  runs: RunsTable & SharedColumns;
  endpoint_paces: EndpointPacesTable;
}

interface SharedColumns {
  /** The newest `seq` of the run. Raising it locks the run's row, so turns commit in order. */
  last_seq: Generated<number>;
  /** The queue of the run's conversations; each time the run is resumed, it gets a new one. */
  queue: string | null;
  /** The places of the run's plan, and how many of them were looked at to fill the queue. */
  places: number | null;
  /** `null` in runs of earlier versions, which list all conversations at the start. */
  listed: number | null;
  /** Until then only the process that reserved the run works on it. */
  reserved_until: Date | null;
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
