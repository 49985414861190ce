import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import type {
  IndexedTurn,
  TurnCursor,
  TurnOutcome,
  TurnQueries,
  TurnQuery,
  TurnQueryPage,
  TurnSort,
} from "../list_query.ts";
import type { Tables } from "../schema/schema.ts";
import { type TurnFacets, turnKey, type TurnPosition } from "../turn_record.ts";
import { conditionsOf, findsText, hasOutcome, scoreValue } from "./turn_conditions.ts";

/** Of results in one page. SQL knows the sizes without reading the texts. */
const PAGE_BYTES = 1024 * 1024;
/** Turns that a search reads for one page. If none of them fits, the page is empty. */
const MOST_SEARCHED = 2_000;
const SEARCH_STEP = 200;
/** The same in portions of `PAGE_BYTES`: long replies make fewer turns. */
const MOST_STEPS = MOST_SEARCHED / SEARCH_STEP;

/** Queries that SQLite and PostgreSQL both understand. */
export function createTurnQueries(db: Kysely<Tables>): TurnQueries {
  function select(runId: string, { filter, sort }: Pick<TurnQuery, "filter" | "sort">) {
    let query = db.selectFrom("turns")
      .select(["scenario", "attempt", "turn", "seq", "failed", "missing", "overall", "facets"])
      .select(valueOf(sort).as("value"))
      .where("run_id", "=", runId);
    for (const condition of conditionsOf(filter)) query = query.where(condition);
    return query;
  }

  /** The next rows, and whether there are more. */
  async function find(
    runId: string,
    query: Pick<TurnQuery, "filter" | "sort" | "after">,
    { limit, withSizes }: { limit: number; withSizes: boolean },
  ): Promise<{ rows: ReadRow[]; hasMore: boolean }> {
    const { sort, after } = query;
    const direction = sort.isDescending ? "desc" : "asc";
    let rows = select(runId, query);
    if (after) rows = rows.where(isAfter(after, sort));
    if (sort.by !== "position") {
      rows = rows.orderBy(sql`${valueOf(sort)} is null`).orderBy(valueOf(sort), direction);
    }
    // Turns with the same value need a fixed order; any will do.
    const within = sort.by === "position" ? direction : "asc";
    rows = rows.orderBy("scenario", within).orderBy("attempt", within).orderBy("turn", within);
    const found = await rows.limit(limit + 1)
      .$if(withSizes, (rows) => rows.select(sql<number>`octet_length(result)`.as("size")))
      .execute();
    return { rows: found.slice(0, limit), hasMore: found.length > limit };
  }

  async function read(runId: string, query: TurnQuery): Promise<TurnQueryPage> {
    const { limit, withResults } = query;
    const { rows, hasMore } = await find(runId, query, { limit, withSizes: withResults });
    const page = fit(rows);
    const last = page.at(-1);
    const next = last && (hasMore || rows.length > page.length) ? cursorOf(last) : null;
    const turns = page.map(toIndexedTurn);
    return { turns: withResults ? await addResults(runId, turns) : turns, next };
  }

  async function addResults(runId: string, turns: IndexedTurn[]): Promise<IndexedTurn[]> {
    if (turns.length === 0) return turns;
    const positions = turns.map(({ scenario, attempt, turn }) =>
      sql`(cast(${scenario} as integer), cast(${attempt} as integer), cast(${turn} as integer))`
    );
    const rows = await db.selectFrom("turns").select(["scenario", "attempt", "turn", "result"])
      .where("run_id", "=", runId)
      .where(sql<SqlBool>`(scenario, attempt, turn) in (values ${sql.join(positions)})`)
      .execute();
    const results = new Map(rows.map((row) => [turnKey(row), row.result]));
    return turns.flatMap((turn) => {
      const resultJson = results.get(turnKey(turn)); // missing if the run was deleted meanwhile
      return resultJson === undefined ? [] : [{ ...turn, resultJson }];
    });
  }

  /** Finds what may contain the text, reads it in steps, and keeps what does. */
  async function search(runId: string, query: TurnQuery, text: string): Promise<TurnQueryPage> {
    const found: IndexedTurn[] = [];
    let { after } = query;
    let steps = 0;
    // Each of these may look at all turns of the run, so there are two and not one per step.
    for (const limit of [SEARCH_STEP, MOST_SEARCHED - SEARCH_STEP]) {
      const { rows, hasMore } = await find(runId, { ...query, after }, {
        limit,
        withSizes: true,
      });
      for (let left = rows; left.length > 0;) {
        const step = fit(left.slice(0, SEARCH_STEP));
        left = left.slice(step.length);
        steps++;
        for (const turn of await addResults(runId, step.map(toIndexedTurn))) {
          if (!findsText(JSON.parse(turn.resultJson!), text)) continue;
          const { resultJson: _, ...plain } = turn;
          found.push(query.withResults ? turn : plain);
          if (found.length < query.limit) continue;
          const isLast = !hasMore && turnKey(turn) === turnKey(rows.at(-1)!);
          return { turns: found, next: isLast ? null : cursorOf(turn) };
        }
        const isOver = left.length === 0 && !hasMore;
        if (steps >= MOST_STEPS && !isOver) {
          return { turns: found, next: cursorOf(step.at(-1)!) };
        }
      }
      if (!hasMore) return { turns: found, next: null };
      after = cursorOf(rows.at(-1)!);
    }
    return { turns: found, next: after! };
  }

  return {
    queryTurns: (runId, query) =>
      query.filter.text === undefined
        ? read(runId, query)
        : search(runId, query, query.filter.text),

    async countTurns(runId, filter) {
      let query = db.selectFrom("turns").select(({ fn }) => fn.countAll().as("turns"))
        .where("run_id", "=", runId);
      for (const condition of conditionsOf(filter)) query = query.where(condition);
      return Number((await query.executeTakeFirstOrThrow()).turns);
    },

    async conversation(runId, { scenario, attempt, turn }, limit) {
      const { turns } = await read(runId, {
        filter: { scenarios: [scenario], attempt, lastTurn: turn },
        sort: { by: "position", isDescending: true },
        limit,
        withResults: true,
      });
      return turns.reverse();
    },

    async attemptRows(runId, { from, to, threshold }) {
      const count = (outcome: TurnOutcome) =>
        sql<number>`sum(case when ${hasOutcome(outcome, { threshold })} then 1 else 0 end)`;
      const rows = await db.selectFrom("turns")
        .select(({ fn }) => [
          "scenario",
          "attempt",
          fn.countAll().as("turns"),
          fn.sum("failed").as("failed"),
          fn.sum("missing").as("missing"),
          count("passed").as("passed"),
          count("below").as("below"),
          fn.avg("overall").as("mean"),
        ])
        .where("run_id", "=", runId)
        .where("scenario", ">=", from)
        .where("scenario", "<", to)
        .groupBy(["scenario", "attempt"])
        .orderBy("scenario").orderBy("attempt")
        .execute();
      return rows.map(({ scenario, attempt, mean, ...counts }) => ({
        scenario,
        attempt,
        turns: Number(counts.turns),
        failed: Number(counts.failed),
        missing: Number(counts.missing),
        passed: Number(counts.passed),
        below: Number(counts.below),
        mean: mean === null ? null : Number(mean),
      }));
    },
  };
}

interface ReadRow extends TurnPosition {
  seq: number;
  failed: 0 | 1;
  missing: 0 | 1;
  overall: number | null;
  facets: string | TurnFacets;
  value: number | null;
  /** The bytes of its result, if results are read. */
  size?: number;
}

/** As many rows as a page may have bytes, and at least one. */
function fit(rows: ReadRow[]): ReadRow[] {
  let bytes = 0;
  const end = rows.findIndex(({ size = 0 }, index) => {
    bytes += Number(size);
    return index > 0 && bytes > PAGE_BYTES;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

function toIndexedTurn(row: ReadRow): IndexedTurn {
  const { scenario, attempt, turn, seq, overall, facets } = row;
  return {
    scenario,
    attempt,
    turn,
    seq,
    failed: row.failed === 1,
    missing: row.missing === 1,
    overall,
    value: row.value === null ? null : Number(row.value),
    // PostgreSQL's drivers parse JSON, SQLite's does not.
    facets: typeof facets === "string" ? JSON.parse(facets) : facets,
  };
}

function cursorOf(
  { scenario, attempt, turn, value = null }: TurnPosition & { value?: number | null },
): TurnCursor {
  return { scenario, attempt, turn, value: value === null ? null : Number(value) };
}

function valueOf(sort: TurnSort): RawBuilder<number | null> {
  switch (sort.by) {
    case "position":
      return sql`cast(null as double precision)`;
    case "seq":
      return sql`seq`;
    case "score":
      return scoreValue(sort.name);
    case "worst":
      return sql`(overall + 2 * (select count(*) from turns as other
        where other.run_id = turns.run_id and other.scenario = turns.scenario
        and other.turn = turns.turn and other.attempt < ${sql.lit(sort.attempts)}
        and (other.overall < turns.overall
          or (other.overall = turns.overall and other.attempt < turns.attempt))))`;
    default:
      return sql`cast(facets ->> ${sql.lit(sort.by)} as double precision)`;
  }
}

function isAfter(
  { scenario, attempt, turn, value }: TurnCursor,
  sort: TurnSort,
): RawBuilder<SqlBool> {
  const position = sql`(scenario, attempt, turn)`;
  const last = sql`(${scenario}, ${attempt}, ${turn})`;
  if (sort.by === "position") {
    return sort.isDescending ? sql`${position} < ${last}` : sql`${position} > ${last}`;
  }
  const own = valueOf(sort);
  if (value === null) return sql`(${own} is null and ${position} > ${last})`;
  const beyond = sort.isDescending ? sql`${own} < ${value}` : sql`${own} > ${value}`;
  return sql`(${beyond} or (${own} = ${value} and ${position} > ${last}) or ${own} is null)`;
}
