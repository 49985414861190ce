import { type Kysely, sql } from "kysely";
import type { GradesTable, Tables } from "./schema/schema.ts";
import type { TurnPosition } from "./turns/turn_record.ts";

/** A person's grade of a turn. */
interface NewGrade {
  /** In [0, 1]. */
  value: number;
  label: string | null;
  comment: string | null;
  /** Empty for grades without an author. */
  author: string;
}

export interface StoredGrade extends NewGrade, TurnPosition {
  /** Set if the author withdrew the grade; it then repeats the grade that was withdrawn. */
  withdrawn?: true;
  /** From 1, for each author of a turn. */
  version: number;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** The position of a grade: a turn, and who graded it. */
export type GradePosition = TurnPosition & Pick<NewGrade, "author">;

export type GradeReader = ReturnType<typeof createGradeReader>;
export type GradeWriter = ReturnType<typeof createGradeWriter>;

const PAGE = 200;
/** Other processes may grade the same turn at the same time. */
const MOST_TRIES = 20;

export function createGradeReader(db: Kysely<Tables>) {
  return {
    /**
     * The latest grade of each author, in the order of the batch and then by author; those after a
     * position if one is given. Grades that were withdrawn are not among them.
     */
    async *grades(
      runId: string,
      after: GradePosition = { scenario: -1, attempt: -1, turn: -1, author: "" },
    ): AsyncIterable<StoredGrade> {
      while (true) {
        const { rows } = await latestFrom(runId, after).execute(db);
        const page = rows.map(toGrade);
        yield* page;
        if (page.length < PAGE) return;
        after = page.at(-1)!;
      }
    },

    /** Every grade that a turn ever had, oldest first, and each withdrawal. */
    async gradeHistory(runId: string, position: TurnPosition): Promise<StoredGrade[]> {
      const rows = await selectOfTurn(db, runId, position).orderBy("created_at").orderBy("author")
        .orderBy("version").execute();
      return rows.map(toGrade);
    },
  };
}

export function createGradeWriter(db: Kysely<Tables>, { now }: { now: () => number }) {
  async function latestOf(runId: string, position: GradePosition) {
    const row = await selectOfTurn(db, runId, position).where("author", "=", position.author)
      .orderBy("version", "desc").executeTakeFirst();
    return row && toGrade(row);
  }

  /** `next` gives the version after the author's latest grade; `undefined` to store none. */
  async function addVersion(
    runId: string,
    position: GradePosition,
    next: (latest: StoredGrade | undefined) => Successor | undefined,
  ): Promise<StoredGrade | undefined> {
    const { scenario, attempt, turn, author } = position;
    for (let tries = 1;; tries++) {
      const latest = await latestOf(runId, position);
      const successor = next(latest);
      if (!successor) return latest;
      const { value, label, comment, withdrawn } = successor;
      const row: GradesTable = {
        run_id: runId,
        ...{ scenario, attempt, turn, author },
        version: (latest?.version ?? 0) + 1,
        ...{ value, label, comment },
        created_at: now(),
        withdrawn: withdrawn ? 1 : 0,
      };
      const outcome = await insertVersion(db, row);
      if (outcome === "stored") return toGrade(row);
      if (outcome === "no turn") return undefined;
      if (tries === MOST_TRIES) throw new Error(`grade of run ${runId}: too many writers`);
    }
  }

  return {
    /**
     * Stores a grade as the author's latest; earlier ones are kept. A grade that says the same as the
     * latest changes nothing. `undefined` if no such turn is stored.
     */
    saveGrade: (runId: string, position: TurnPosition, grade: NewGrade) =>
      addVersion(
        runId,
        { ...position, author: grade.author },
        (latest) => latest && isSame(latest, grade) ? undefined : grade,
      ),

    /** Withdraws an author's grade; its history is kept. `undefined` if there is none. */
    async withdrawGrade(runId: string, position: GradePosition): Promise<StoredGrade | undefined> {
      let found = false;
      const withdrawn = await addVersion(runId, position, (latest) => {
        found = latest !== undefined && !latest.withdrawn;
        return found ? { ...latest!, withdrawn: true } : undefined;
      });
      return found ? withdrawn : undefined;
    },
  };
}

type Successor = NewGrade & Pick<StoredGrade, "withdrawn">;

/** `taken`: another process has stored this version. */
async function insertVersion(
  db: Kysely<Tables>,
  row: GradesTable,
): Promise<"stored" | "taken" | "no turn"> {
  return await db.transaction().execute(async (transaction) => {
    const { run_id, scenario, attempt, turn } = row;
    const found = await transaction.selectFrom("turns")
      .innerJoin("runs", "runs.id", "turns.run_id")
      .select("turns.seq")
      .where("turns.run_id", "=", run_id)
      .where("turns.scenario", "=", scenario)
      .where("turns.attempt", "=", attempt)
      .where("turns.turn", "=", turn)
      .executeTakeFirst();
    if (!found) return "no turn";
    const { numInsertedOrUpdatedRows } = await transaction.insertInto("grades").values(row)
      .onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
    return numInsertedOrUpdatedRows === 0n ? "taken" : "stored";
  });
}

function isSame(one: StoredGrade, other: NewGrade): boolean {
  return !one.withdrawn && one.value === other.value && one.label === other.label &&
    one.comment === other.comment;
}

function selectOfTurn(
  db: Kysely<Tables>,
  runId: string,
  { scenario, attempt, turn }: TurnPosition,
) {
  return db.selectFrom("grades").selectAll()
    .where("run_id", "=", runId)
    .where("scenario", "=", scenario)
    .where("attempt", "=", attempt)
    .where("turn", "=", turn);
}

/** A page of the grades after a position that no later version replaces or withdraws. */
function latestFrom(runId: string, { scenario, attempt, turn, author }: GradePosition) {
  return sql<GradesTable>`
    select g.*
    from grades as g
    where g.run_id = ${runId}
      and g.withdrawn = 0
      and (g.scenario, g.attempt, g.turn, g.author)
        > (${scenario}, ${attempt}, ${turn}, ${author})
      and not exists (
        select 1 from grades as later
        where later.run_id = g.run_id and later.scenario = g.scenario
          and later.attempt = g.attempt and later.turn = g.turn
          and later.author = g.author and later.version = g.version + 1
      )
    order by g.scenario, g.attempt, g.turn, g.author
    limit ${PAGE}`;
}

function toGrade(row: GradesTable): StoredGrade {
  return {
    scenario: row.scenario,
    attempt: row.attempt,
    turn: row.turn,
    author: row.author,
    version: row.version,
    value: row.value,
    label: row.label,
    comment: row.comment,
    createdAt: Number(row.created_at),
    ...(row.withdrawn === 1 && { withdrawn: true }),
  };
}

/** Deletes the grades of runs that were deleted while one was stored. */
export async function deleteOrphanGrades(db: Kysely<Tables>): Promise<void> {
  await db.deleteFrom("grades").where(({ not, exists, selectFrom }) =>
    not(exists(
      selectFrom("runs").select("runs.id").whereRef("runs.id", "=", "grades.run_id"),
    ))
  ).execute();
}
