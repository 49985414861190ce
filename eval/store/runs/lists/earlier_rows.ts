import { type Kysely, sql } from "kysely";
import { removeQuery } from "../run_record.ts";
import { readFacets } from "../../turns/turn_facets.ts";

/** Turns of an earlier version that are read at once. */
const FILLED_AT_ONCE = 200;

/** Writes the facets of turns that earlier versions stored. */
export async function fillFacets(db: Kysely<unknown>): Promise<void> {
  const { rows: runs } = await sql<{ id: string }>`select id from runs`.execute(db);
  for (const { id } of runs) {
    let last: number | undefined = 0;
    while (last !== undefined) last = await fillPage(db, { id, after: last });
  }
}

/** Fills the turns after a `seq`, and returns that of the last one; `undefined` if there was none. */
async function fillPage(
  db: Kysely<unknown>,
  { id, after }: { id: string; after: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number; result: string }>`
    select seq, result from turns where run_id = ${id} and seq > ${after}
    order by seq limit ${sql.lit(FILLED_AT_ONCE)}`.execute(db);
  for (const { seq, result } of rows) {
    const facets = JSON.stringify(readFacets(JSON.parse(result)));
    await sql`update turns set facets = ${facets} where run_id = ${id} and seq = ${seq}`
      .execute(db);
  }
  return rows.at(-1)?.seq;
}

/** Removes the queries of endpoints, which earlier versions stored. */
export async function removeStoredQueries(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ id: string; endpoint: string }>`
    select id, endpoint from runs where endpoint like '%?%' or endpoint like '%#%'`.execute(db);
  for (const { id, endpoint } of rows) {
    const { rows: [row] } = await sql<{ request: string }>`
      select request from runs where id = ${id}`.execute(db);
    const bare = removeQuery(endpoint);
    const request = JSON.stringify({ ...JSON.parse(row!.request), endpoint: bare });
    await sql`update runs set endpoint = ${bare}, request = ${request}, query_removed = 1
      where id = ${id}`.execute(db);
  }
}
