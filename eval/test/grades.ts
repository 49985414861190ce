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
  /** What the reply should have been. */
  corrected_reply: text(200_000).min(1).optional(),
  /** Each author has one grade per turn; grades without an author replace each other. */
  author: text(200).min(1).optional(),
}).meta({ id: "GradeInput" });
export type GradeInput = z.infer<typeof GradeInput>;

/** A person's grade of a turn. */
export const Grade = z.object({
  value: z.number(),
  label: z.string().nullable(),
  comment: z.string().nullable(),
  corrected_reply: z.string().nullable(),
  author: z.string().nullable(),
  created_at: z.string(),
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

/** Krippendorff's alpha of the values; `null` if it is undefined. */
const Alpha = z.number().nullable();

/** A mean difference; `ci95` is over scenarios, and `null` for fewer than 5 of them. */
export const MeanDifference = z.object({
  mean: z.number(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
}).meta({ id: "MeanDifference" });

/**
 * How often `score >= threshold` agrees with people. `kappa` is Cohen's: 0 is agreement by chance;
 * `null` if it is not defined.
 */
export const ThresholdFit = z.object({
  threshold: z.number(),
  agreement: z.number(),
  kappa: z.number().nullable(),
}).meta({ id: "ThresholdFit" });
export type ThresholdFit = z.infer<typeof ThresholdFit>;

/** The agreement of people with each other. */
const PeopleAgreement = z.object({
  /** Turns with grades of two people or more. */
  turns: z.int(),
  alpha: Alpha,
}).meta({ id: "PeopleAgreement" });

/** The agreement of a score with the mean grade of each turn. */
export const JudgeAgreement = z.object({
  score: z.string(),
  /** Graded turns that have the score. */
  turns: z.int(),
  /** Graded turns without it. */
  missing: z.int(),
  alpha: Alpha,
  /** The score − people: the bias of the score. */
  mean_difference: MeanDifference,
  /** The threshold of the score that best agrees with people, and the present one. */
  threshold: z.object({ best: ThresholdFit, present: ThresholdFit }),
}).meta({ id: "JudgeAgreement" });

/** The answer of `GET /runs/{id}/agreement`. */
export const GradeAgreement = z.object({
  run_id: z.string(),
  grades: z.int(),
  graded_turns: z.int(),
  authors: z.array(
    z.object({ author: z.string().nullable(), grades: z.int(), mean: z.number() })
      .meta({ id: "GradingAuthor" }),
  ),
  /** The grade from which a person passes a turn. */
  pass_threshold: z.number(),
  people: PeopleAgreement,
  /** `null` if no graded turn has the score. */
  judge: JudgeAgreement.nullable(),
}).meta({ id: "Agreement" });
export type GradeAgreement = z.infer<typeof GradeAgreement>;
