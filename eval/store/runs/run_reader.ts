import { type Kysely, type RawBuilder, sql } from "kysely";
import { createYielder } from "../../../shared/service/waiting.ts";
import { createGradeReader } from "../grades.ts";
import { createDatasetReader } from "../datasets.ts";
import { groupRuns, listRuns } from "./run_list.ts";
import { parseTurn, RECORD_COLUMNS, type SelectedTurn, toRecord, toTurnText } from "./run_rows.ts";
import type { Tables, TurnsTable } from "../schema/schema.ts";
import { createTurnQueries } from "../turns/turn_queries.ts";
import type { TurnPosition, TurnText } from "../turn_record.ts";
import type { Tally } from "../run_record.ts";
import type { RunReader } from "../store.ts";

/** Turns read at once, in number and in bytes: pages are quick to read and small in memory. */
const PAGE = 200;
const PAGE_BYTES = 256 * 1024;

/** Reads runs from any database that has the tables. */
export function createRunReader(db: Kysely<Tables>): RunReader {
  const turnPages = (runId: string) => readAhead(fetchPages(runId));

  async function* fetchPages(runId: string): AsyncGenerator<TurnText[]> {
    let after = { scenario: 0, attempt: -1, turn: -1 };
    while (true) {
      const { rows } = await turnsFrom(runId, after).execute(db);
      const page = rows.map(toTurnText);
      const last = page.at(-1);
      if (!last) return;
      yield page;
      after = last;
    }
  }

  return {
    ...createTurnQueries(db),
    ...createGradeReader(db),
    ...createDatasetReader(db),

    async getRun(id) {
      const row = await db.selectFrom("runs").selectAll().where("id", "=", id).executeTakeFirst();
      return row && { ...toRecord(row), request: JSON.parse(row.request) };
    },

    async getRecord(id) {
      const row = await db.selectFrom("runs").select(RECORD_COLUMNS).where("id", "=", id)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async findTag(name) {
      const row = await db.selectFrom("run_tags").select("run_id").where("name", "=", name)
        .executeTakeFirst();
      return row?.run_id;
    },

    async tagsOf(ids) {
      if (ids.length === 0) return new Map();
      const rows = await db.selectFrom("run_tags").selectAll().where("run_id", "in", ids)
        .orderBy("name").execute();
      const groups = Map.groupBy(rows, ({ run_id }) => run_id);
      return new Map([...groups].map(([id, tags]) => [id, tags.map(({ name }) => name)]));
    },

    listRuns: (filter) => listRuns(db, filter),

    groupRuns: (groupId) => groupRuns(db, groupId),

    async *turns(runId) {
      const pause = createYielder(); // the next page may be there already
      for await (const page of turnPages(runId)) {
        for (const row of page) {
          await pause();
          yield parseTurn(row);
        }
      }
    },

    turnPages,

    async turnsAfter(runId, { seq, limit }) {
      const { rows } = await eventsFrom(runId, { seq, limit }).execute(db);
      return rows.map(({ result, ...position }) => ({ ...position, resultJson: result }));
    },

    tally: (runId) => readTally(db, runId),

    async headlines(runIds) {
      if (runIds.length === 0) return new Map();
      const rows = await db.selectFrom("runs").select(["id", "headline"])
        .where("id", "in", runIds)
        .where("headline", "is not", null)
        .execute();
      return new Map(rows.map(({ id, headline }) => [id, headline!]));
    },

    close: () => db.destroy(),

    // By `this`: a store that is made from this reader has another `close`.
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/** Counts the stored turns of a run. */
export async function readTally(db: Kysely<Tables>, runId: string): Promise<Tally> {
  const row = await db.selectFrom("turns")
    .select(({ fn }) => [
      fn.countAll().as("done"),
      fn.sum("failed").as("failed"),
      fn.sum("missing").as("missing"),
      fn.count("overall").as("scored"),
      fn.avg("overall").as("mean"),
      fn.max("seq").as("last_seq"),
    ])
    .where("run_id", "=", runId)
    .executeTakeFirstOrThrow();
  return {
    done: Number(row.done),
    failed: Number(row.failed ?? 0),
    missing: Number(row.missing ?? 0),
    scored: Number(row.scored),
    mean: row.mean === null ? null : Number(row.mean),
    lastSeq: Number(row.last_seq ?? 0),
  };
}

/** The turns after a position in the order of the batch. */
function turnsFrom(runId: string, { scenario, attempt, turn }: TurnPosition) {
  const rest = sql`from turns
    where run_id = ${runId} and (scenario, attempt, turn) > (${scenario}, ${attempt}, ${turn})
    order by scenario, attempt, turn`;
  return sql<SelectedTurn>`
    select scenario, attempt, turn, took_ms, result ${rest}
    limit ${fittingOf(rest, { order: sql`scenario, attempt, turn`, limit: PAGE })}`;
}

/** The turns after a position in the order of storing. */
function eventsFrom(runId: string, { seq, limit }: { seq: number; limit: number }) {
  const rest = sql`from turns where run_id = ${runId} and seq > ${seq} order by seq`;
  return sql<Pick<TurnsTable, "seq" | "scenario" | "attempt" | "turn" | "result">>`
    select seq, scenario, attempt, turn, result ${rest}
    limit ${fittingOf(rest, { order: sql`seq`, limit })}`;
}

/**
 * How many of the next turns fit into a page. The first one has any size; the others are included
 * while the page is below `PAGE_BYTES`. One reply may have megabytes, and SQL knows the sizes without
 * reading the texts. The sizes limit the page and are not joined with it: PostgreSQL takes a run that
 * is not yet in its statistics for one of a single turn, and would read the whole run for each turn
 * of the page.
 */
function fittingOf(
  rest: RawBuilder<unknown>,
  { order, limit }: { order: RawBuilder<unknown>; limit: number },
) {
  return sql`(
    select count(*)
    from (
      select size, sum(size) over (order by ${order}) as total
      from (select ${order}, octet_length(result) as size ${rest} limit ${limit}) as next
    ) as page
    where total - size < ${PAGE_BYTES}
  )`;
}

/**
 * The same items, each requested while the one before it is being used. At most one item is
 * buffered, and none is requested after the consumer has stopped.
 */
export async function* readAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    while (true) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      next.catch(() => {}); // thrown when the item is requested
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
