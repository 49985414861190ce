import type { TurnPosition } from "../turns/turn_record.ts";

/** A person's grade of a turn. */
export interface NewGrade {
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

/** Reads grades. */
export interface GradeReader {
  /**
   * The latest grade of each author, in the order of the batch and then by author; those after a
   * position if one is given. Grades that were withdrawn are not among them.
   */
  grades(runId: string, after?: GradePosition): AsyncIterable<StoredGrade>;
  /** Every grade that a turn ever had, oldest first, and each withdrawal. */
  gradeHistory(runId: string, position: TurnPosition): Promise<StoredGrade[]>;
}

/** Stores grades. */
export interface GradeWriter {
  /**
   * Stores a grade as the author's latest; earlier ones are kept. A grade that says the same as the
   * latest changes nothing. `undefined` if no such turn is stored.
   */
  saveGrade(
    runId: string,
    position: TurnPosition,
    grade: NewGrade,
  ): Promise<StoredGrade | undefined>;
  /** Withdraws an author's grade; its history is kept. `undefined` if there is none. */
  withdrawGrade(runId: string, position: GradePosition): Promise<StoredGrade | undefined>;
}
