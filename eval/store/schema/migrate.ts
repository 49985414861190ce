import { type Kysely, sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from "kysely/migration";
import type { Logger } from "../../../shared/log.ts";
import { migrations } from "./migrations.ts";
import type { Tables } from "./schema.ts";

export interface MigrateOptions {
  /** Migrations of one database only; their names have numbers of their own. */
  further?: Record<string, Migration>;
  /**
   * How many later versions the tables may be ahead: during an update, processes of the version
   * before may still start. 0 if unset.
   */
  newerAllowed?: number;
  /** Told before tables of an earlier version are changed: their rows may take minutes. */
  log?: Pick<Logger, "info"> | undefined;
}

/** Migrates the tables to the latest version. Throws if they are of a later version. */
export async function migrate(
  db: Kysely<Tables>,
  { further = {}, newerAllowed = 0, log }: MigrateOptions = {},
): Promise<void> {
  const all = { ...migrations, ...further };
  const executed = await executedMigrations(db);
  const newer = unknownOf(executed, all);
  const isCurrent = Object.keys(all).every((name) => executed.has(name));
  if (isCurrent && newer.length > 0 && newer.length <= newerAllowed) return;
  if (!isCurrent && executed.size > 0) {
    log?.info(
      "EVAL_DATA is of an earlier version: its tables are being updated, which may take minutes",
    );
  }
  const provider = { getMigrations: () => Promise.resolve(all) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (!error) return;
  const [later] = unknownOf(await executedMigrations(db), all);
  if (later === undefined) throw error;
  throw new Error(
    `its tables are of a later version (${later}); start that version, or restore a backup from before`,
    { cause: error },
  );
}

/** True if the tables have all that this version knows of; also if they are of a later one. */
export async function isMigrated(
  db: Kysely<Tables>,
  { further = {} }: Pick<MigrateOptions, "further"> = {},
): Promise<boolean> {
  const executed = await executedMigrations(db);
  return Object.keys({ ...migrations, ...further }).every((name) => executed.has(name));
}

/** The executed migrations that this version does not know. */
function unknownOf(executed: Set<string>, known: Record<string, Migration>): string[] {
  return [...executed].filter((name) => !Object.hasOwn(known, name));
}

async function executedMigrations(db: Kysely<Tables>): Promise<Set<string>> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return new Set();
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
