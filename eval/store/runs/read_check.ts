import type { CompiledQuery, Kysely, LogEvent } from "kysely";
import type { Tables } from "../schema/schema.ts";
import type { RunReader } from "../store.ts";
import { StoreFault } from "../store_fault.ts";

/** Notices reads of stored runs that fail. */
export interface ReadCheck {
  /** To be given to kysely as its `log`. */
  note(event: LogEvent): void;
  /** Reads the newest run, and again what was found damaged; rejects if that fails. */
  check(db: Kysely<Tables>, reader: RunReader): Promise<void>;
}

export function createReadCheck(): ReadCheck {
  let damaged: CompiledQuery | undefined;
  return {
    note(event) {
      if (event.level === "error" && isDamage(event.error)) damaged = event.query;
    },
    async check(db, reader) {
      if (damaged) await db.executeQuery(damaged);
      damaged = undefined;
      const { runs: [newest] } = await reader.listRuns({ limit: 1 });
      if (!newest) return;
      await reader.getRecord(newest.id);
      await reader.turnsAfter(newest.id, { seq: 0, limit: 1 });
    },
  };
}

/** Only what is wrong with the file: a caller's query must not make the service unready. */
function isDamage(error: unknown): boolean {
  if (error instanceof StoreFault) return error.isCorrupt || error.isNoDatabase;
  return /^XX/.test((error as { code?: string }).code ?? "");
}
