import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Tables } from "./schema.ts";

/** The tables of both databases; only what SQLite and PostgreSQL both understand. */
export const TABLES = [
  `create table runs (
    id text primary key,
    parent_id text,
    status text not null,
    detail text,
    test_name text not null,
    model_id text not null,
    endpoint text,
    attempts integer not null,
    total_turns integer not null,
    created_at bigint not null,
    finished_at bigint,
    tally text,
    request text not null,
    dataset text not null,
    dataset_name text,
    gate text,
    group_id text,
    group_index integer,
    group_name text,
    overall double precision,
    headline text,
    summary text
  )`,
  "create index runs_by_status on runs (status, id)",
  "create index runs_by_test on runs (test_name, id)",
  "create index runs_by_model on runs (model_id, id)",
  "create index runs_by_group on runs (group_id, id) where group_id is not null",
  `create table turns (
    run_id text not null,
    scenario integer not null,
    attempt integer not null,
    turn integer not null,
    seq integer not null,
    failed integer not null,
    missing integer not null,
    overall double precision,
    took_ms integer not null,
    result text not null,
    facets json not null,
    primary key (run_id, scenario, attempt, turn)
  )`,
  "create unique index turns_by_seq on turns (run_id, seq)",
  `create table caller_keys (
    caller text not null,
    idempotency_key text not null,
    body_hash text not null,
    run_id text not null,
    created_at bigint not null,
    primary key (caller, idempotency_key)
  )`,
  "create table service_state (name text primary key, value text not null)",
  "create table run_tags (name text primary key, run_id text not null)",
  `create table grades (
    run_id text not null,
    scenario integer not null,
    attempt integer not null,
    turn integer not null,
    author text not null,
    value double precision not null,
    label text,
    comment text,
    corrected_reply text,
    created_at bigint not null,
    primary key (run_id, scenario, attempt, turn, author)
  )`,
  `create table datasets (
    name text primary key,
    latest text not null,
    updated_at bigint not null,
    tags text not null
  )`,
  `create table dataset_versions (
    name text not null,
    version text not null,
    content_id text not null,
    created_at bigint not null,
    scenarios integer not null,
    turns integer not null,
    bytes bigint not null,
    primary key (name, version)
  )`,
  `create table leak_checks (
    version text not null,
    digest text not null,
    file text not null,
    line_count integer not null,
    checked_at bigint not null,
    found text not null,
    primary key (version, digest)
  )`,
  `create table dataset_parts (
    content_id text not null,
    position integer not null,
    lines text not null,
    primary key (content_id, position)
  )`,
];

/** Creates the tables in an empty database; throws if it has those of another build. */
export async function createTables(db: Kysely<Tables>, statements = TABLES): Promise<void> {
  if (await hasTables(db, statements)) return;
  for (const statement of statements) await sql.raw(statement).execute(db);
  await db.insertInto("service_state").values({ name: "schema", value: digest(statements) })
    .execute();
}

/** False if the database has no tables of ours yet; throws if it has those of another build. */
export async function hasTables(db: Kysely<Tables>, statements = TABLES): Promise<boolean> {
  const names = new Set((await db.introspection.getTables()).map(({ name }) => name));
  if (!names.has("runs")) return false;
  const schema = names.has("service_state") &&
    await db.selectFrom("service_state").select("value").where("name", "=", "schema")
      .executeTakeFirst();
  if (schema && schema.value === digest(statements)) return true;
  throw new Error(
    "its tables are those of another build; export its runs with that build " +
      "(assay-eval runs, assay-eval export RUN -o RUN.json), and set another EVAL_DATA for this one",
  );
}

function digest(statements: string[]): string {
  return createHash("sha256").update(statements.join(";\n")).digest("hex").slice(0, 16);
}
