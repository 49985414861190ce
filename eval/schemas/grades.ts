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

const Alpha = z.number().nullable();

/** A mean difference; `ci95` is over scenarios, and `null` for fewer than 5 of them. */
const MeanDifference = z.object({
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

/** The agreement of two people over the turns that both graded. */
export const AuthorPair = z.object({
  authors: z.tuple([z.string().nullable(), z.string().nullable()]),
  turns: z.int(),
  spearman: z.number().nullable(),
  /** The first author's grades − the second's. */
  mean_difference: MeanDifference.nullable(),
}).meta({ id: "AuthorPair" });
export type AuthorPair = z.infer<typeof AuthorPair>;

/** The agreement of people with each other. Alphas are Krippendorff's; `null` if undefined. */
export const PeopleAgreement = z.object({
  /** Turns with grades of two people or more. */
  turns: z.int(),
  /** Of the values. */
  alpha_interval: Alpha,
  /** Of pass and fail, by the values. */
  alpha_pass: Alpha,
  /** Of the labels, nominal. */
  alpha_labels: Alpha,
  /** The pairs with the most turns first, at most 100. */
  pairs: z.array(AuthorPair),
}).meta({ id: "PeopleAgreement" });
export type PeopleAgreement = z.infer<typeof PeopleAgreement>;

/** The judge's bias for scores in a band. */
export const BiasBand = z.object({
  from: z.number(),
  /** Exclusive, except for the last band. */
  to: z.number(),
  turns: z.int(),
  score: z.number(),
  people: z.number(),
  /** The judge − people. */
  bias: MeanDifference,
}).meta({ id: "BiasBand" });
export type BiasBand = z.infer<typeof BiasBand>;

/** The agreement of a score with the mean grade of each turn. */
export const JudgeAgreement = z.object({
  score: z.string(),
  /** Graded turns that have the score. */
  turns: z.int(),
  /** Graded turns without it. */
  missing: z.int(),
  alpha_interval: Alpha,
  alpha_pass: Alpha,
  spearman: z.number().nullable(),
  /** The score − people. */
  mean_difference: MeanDifference,
  bands: z.array(BiasBand),
  /** The threshold of the score that best agrees with people, and the present one. */
  threshold: z.object({ best: ThresholdFit, present: ThresholdFit }),
}).meta({ id: "JudgeAgreement" });
export type JudgeAgreement = z.infer<typeof JudgeAgreement>;

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
