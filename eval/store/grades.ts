import { type ExpressionBuilder, type Kysely, sql, type SqlBool } from "kysely";
import type { GradesTable, Tables } from "./schema/schema.ts";
import type { TurnPosition } from "./turn_record.ts";

/** What a person says of a turn. */
interface NewGrade {
  /** In [0, 1]. */
  value: number;
  label: string | null;
  comment: string | null;
  /** What the reply should have been. */
  correctedReply: string | null;
  /** Empty for grades without an author. */
  author: string;
}

/** A person's grade of a turn: each author has one. */
export interface StoredGrade extends NewGrade, TurnPosition {
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** The position of a grade: a turn, and who graded it. */
export type GradePosition = TurnPosition & Pick<NewGrade, "author">;

export type GradeReader = ReturnType<typeof createGradeReader>;
export type GradeWriter = ReturnType<typeof createGradeWriter>;

const PAGE = 200;

export function createGradeReader(db: Kysely<Tables>) {
  return {
    /**
     * The grades of a run in the order of the batch and then by author; those after a position if
     * one is given.
     */
    async *grades(
      runId: string,
      after: GradePosition = { scenario: -1, attempt: -1, turn: -1, author: "" },
    ): AsyncIterable<StoredGrade> {
      while (true) {
        const { scenario, attempt, turn, author } = after;
        const rows = await db.selectFrom("grades").selectAll().where("run_id", "=", runId)
          .where(
            sql<SqlBool>`(scenario, attempt, turn, author)
              > (${scenario}, ${attempt}, ${turn}, ${author})`,
          )
          .orderBy("scenario").orderBy("attempt").orderBy("turn").orderBy("author").limit(PAGE)
          .execute();
        yield* rows.map(toGrade);
        if (rows.length < PAGE) return;
        after = rows.at(-1)!;
      }
    },

    /** The grades of one turn, by author. */
    async turnGrades(runId: string, position: TurnPosition): Promise<StoredGrade[]> {
      const rows = await db.selectFrom("grades").selectAll().where(isAt(runId, position))
        .orderBy("author").execute();
      return rows.map(toGrade);
    },
  };
}

export function createGradeWriter(db: Kysely<Tables>, { now }: { now: () => number }) {
  return {
    /** Replaces the author's grade of the turn. `undefined` if no such turn is stored. */
    saveGrade(
      runId: string,
      position: TurnPosition,
      { author, correctedReply, ...said }: NewGrade,
    ): Promise<StoredGrade | undefined> {
      const { scenario, attempt, turn } = position;
      const place = { run_id: runId, scenario, attempt, turn, author };
      const grade = { ...said, corrected_reply: correctedReply, created_at: now() };
      return db.transaction().execute(async (transaction) => {
        const found = await transaction.selectFrom("turns")
          .innerJoin("runs", "runs.id", "turns.run_id")
          .select("turns.seq")
          .where("turns.run_id", "=", runId)
          .where("turns.scenario", "=", scenario)
          .where("turns.attempt", "=", attempt)
          .where("turns.turn", "=", turn)
          .executeTakeFirst();
        if (!found) return undefined;
        await transaction.insertInto("grades").values({ ...place, ...grade })
          .onConflict((conflict) =>
            conflict.columns(["run_id", "scenario", "attempt", "turn", "author"]).doUpdateSet(grade)
          ).execute();
        return toGrade({ ...place, ...grade });
      });
    },

    /** Deletes an author's grade. `undefined` if there is none. */
    async deleteGrade(runId: string, position: GradePosition): Promise<StoredGrade | undefined> {
      const row = await db.deleteFrom("grades").where(isAt(runId, position))
        .where("author", "=", position.author).returningAll().executeTakeFirst();
      return row && toGrade(row);
    },
  };
}

function isAt(runId: string, { scenario, attempt, turn }: TurnPosition) {
  return ({ eb, and }: ExpressionBuilder<Tables, "grades">) =>
    and([
      eb("run_id", "=", runId),
      eb("scenario", "=", scenario),
      eb("attempt", "=", attempt),
      eb("turn", "=", turn),
    ]);
}

function toGrade({ run_id: _, corrected_reply, created_at, ...row }: GradesTable): StoredGrade {
  return { ...row, correctedReply: corrected_reply, createdAt: Number(created_at) };
}

/** Deletes the grades of runs that were deleted while one was stored. */
export async function deleteOrphanGrades(db: Kysely<Tables>): Promise<void> {
  await db.deleteFrom("grades").where(({ not, exists, selectFrom }) =>
    not(exists(
      selectFrom("runs").select("runs.id").whereRef("runs.id", "=", "grades.run_id"),
    ))
  ).execute();
}
