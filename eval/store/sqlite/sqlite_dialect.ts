import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { SqliteConnection } from "./sqlite_connection.ts";

type UsedConnection = Pick<SqliteConnection, "query" | "close">;

/**
 * kysely's SQLite dialect with another driver: kysely's own driver blocks the calling thread, this
 * one uses a separate thread.
 */
export function createSqliteDialect(connection: UsedConnection): Dialect {
  return {
    createDriver: () => createDriver(connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalSqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Runs migrations in a transaction: if the process is killed, nothing of one is left. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function createDriver(sqlite: UsedConnection): Driver {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery) {
      const { rows, changes } = await sqlite.query(sql, parameters);
      return { rows: rows as R[], numAffectedRows: BigInt(changes) };
    },
    streamQuery() {
      throw new Error("streaming queries are not supported: read pages instead");
    },
  };
  const run = async (sql: string) => {
    await connection.executeQuery(CompiledQuery.raw(sql));
  };
  return {
    init: () => Promise.resolve(),
    // kysely lets one caller at a time have it: the adapter says that there is only one connection.
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: () => run("begin immediate"),
    commitTransaction: () => run("commit"),
    // After some failures, for example on a full disk, SQLite has already rolled back and refuses a
    // second time. The first failure is the one to report.
    rollbackTransaction: () => run("rollback").catch(() => {}),
    releaseConnection: () => Promise.resolve(),
    destroy: () => sqlite.close(),
  };
}
