import { Kysely } from "kysely";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { createRunIds } from "../../eval/store/run_record.ts";
import { createRunStore } from "../../eval/store/runs/run_store.ts";
import { TABLES } from "../../eval/store/schema/create_tables.ts";
import type { Tables } from "../../eval/store/schema/schema.ts";
import { createSqliteDialect } from "../../eval/store/sqlite_connection.ts";
import { storageError } from "../../eval/store/store_fault.ts";
import type { RunStore } from "../../eval/store/store.ts";

/**
 * The real store on SQLite in memory, on the thread of the test: it needs no opening or closing.
 */
export function memoryStore({ now = Date.now }: { now?: () => number } = {}): RunStore {
  const database = new DatabaseSync(":memory:");
  database.exec(TABLES.join(";"));

  function execute(sql: string, parameters: readonly unknown[]) {
    const statement = database.prepare(sql);
    const values = parameters as SQLInputValue[];
    if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
    return { rows: [], changes: Number(statement.run(...values).changes) };
  }

  const dialect = createSqliteDialect({
    // deno-lint-ignore require-await -- a fault rejects
    async query(sql, parameters) {
      try {
        return execute(sql, parameters);
      } catch (error) {
        const { name, message, errcode } = error as Error & { errcode?: number };
        throw storageError({ name, message, sqliteCode: errcode ?? null });
      }
    },
    close: () => Promise.resolve(),
  });
  return createRunStore(new Kysely<Tables>({ dialect }), { now, newId: createRunIds(now) });
}
