import { Kysely } from "kysely";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { createRunIds } from "../../eval/store/runs/run_record.ts";
import { createRunStore } from "../../eval/store/runs/run_store.ts";
import { migrate } from "../../eval/store/schema/migrate.ts";
import type { Tables } from "../../eval/store/schema/schema.ts";
import { createSqliteDialect } from "../../eval/store/sqlite/sqlite_connection.ts";
import { storageError } from "../../eval/store/store_fault.ts";
import type { RunStore } from "../../eval/store/store.ts";

interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

let statements: Promise<Statement[]> | undefined;

/** What the migrations of an empty database execute: it is found out once for all stores. */
async function tableStatements(): Promise<Statement[]> {
  const recorded: Statement[] = [];
  const recorder = createSqliteDialect({
    query(sql, parameters) {
      recorded.push({ sql, parameters });
      return Promise.resolve({ rows: [], changes: 0 });
    },
    close: () => Promise.resolve(),
  });
  await migrate(new Kysely<Tables>({ dialect: recorder }));
  return recorded;
}

/**
 * The real store on SQLite in memory, on the thread of the test: it needs no opening or closing.
 * The tables are made before the first statement.
 */
export function memoryStore({ now = Date.now }: { now?: () => number } = {}): RunStore {
  const database = new DatabaseSync(":memory:");

  function execute(sql: string, parameters: readonly unknown[]) {
    const statement = database.prepare(sql);
    const values = parameters as SQLInputValue[];
    if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
    return { rows: [], changes: Number(statement.run(...values).changes) };
  }

  let ready: Promise<void> | undefined;
  async function createTables(): Promise<void> {
    for (const { sql, parameters } of await (statements ??= tableStatements())) {
      execute(sql, parameters);
    }
  }

  const dialect = createSqliteDialect({
    async query(sql, parameters) {
      await (ready ??= createTables());
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
