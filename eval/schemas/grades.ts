import { z } from "zod";

/** PostgreSQL cannot store a NUL in a text. */
const text = (longest: number) =>
  z.string().max(longest).refine((value) => !value.includes("\0"), {
    error: "must not contain NUL",
  });

/** The body of `PUT …/grade`. */
export const GradeInput = z.strictObject({
  value: z.number().min(0).max(1),
  /** A category, such as "wrong tone". */
  label: text(200).min(1).optional(),
  comment: text(10_000).optional(),
  /** Each author has one grade per turn; grades without an author replace each other. */
  author: text(200).min(1).optional(),
}).meta({ id: "GradeInput" });
export type GradeInput = z.infer<typeof GradeInput>;

/** A person's grade of a turn. */
export const Grade = z.object({
  value: z.number(),
  label: z.string().nullable(),
  comment: z.string().nullable(),
  author: z.string().nullable(),
  /** 1 for the author's first grade of the turn. */
  version: z.int(),
  created_at: z.string(),
  /** Only in the history: the author withdrew this grade. */
  withdrawn: z.literal(true).optional(),
}).meta({ id: "Grade" });
export type Grade = z.infer<typeof Grade>;

/** A grade with its position in the run, as in lists of turns. */
export const PlacedGrade = z.object({
  scenario: z.int(),
  scenario_id: z.string(),
  attempt_id: z.int(),
  turn: z.int(),
  ...Grade.shape,
}).meta({ id: "PlacedGrade" });
export type PlacedGrade = z.infer<typeof PlacedGrade>;
