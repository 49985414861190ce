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

/**
 * kysely's SQLite dialect with another driver: kysely's own calls SQLite on the thread that calls
 * it, ours on a thread that may wait for the disk.
 */
export function createSqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createDriver: () => createDriver(connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalSqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** A process that is killed in the middle of a migration must find none of it afterwards. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function createDriver(sqlite: SqliteConnection): Driver {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery) {
      const { rows, changes } = await sqlite.query(sql, parameters);
      return { rows: rows as R[], numAffectedRows: BigInt(changes) };
    },
    streamQuery() {
      throw new Error("the database's thread answers whole pages: ask for a page");
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
    // After some failures, a full disk among them, SQLite has rolled back by itself and refuses a
    // second time; the first failure is the one to tell.
    rollbackTransaction: () => run("rollback").catch(() => {}),
    releaseConnection: () => Promise.resolve(),
    destroy: () => sqlite.close(),
  };
}
