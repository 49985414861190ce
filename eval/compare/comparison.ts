import { z } from "zod";
import { LeftOut } from "./left_out.ts";
import { Planning } from "./planning.ts";

/** `inconclusive` is not "equal": the data do not say. */
export const Verdict = z.enum(["improved", "regressed", "inconclusive"]).meta({ id: "Verdict" });
export type Verdict = z.infer<typeof Verdict>;

const Interval = z.tuple([z.number(), z.number()]);

/**
 * One score in both runs, over the turns at which both have it by the same method and against the
 * same expectation. `overall` and `metadata_match` are computed again from the parts for which this
 * holds; see `left_out`. Means are over scenarios.
 */
export const ScoreComparison = z.object({
  baseline: z.number(),
  candidate: z.number(),
  /** Candidate − baseline. */
  difference: z.number(),
  /** Holds 0 exactly if `p` is above 0.05; `null` if the scenarios are too few to bound it. */
  ci95: Interval.nullable(),
  /** Of this score alone, two-sided. */
  p: z.number(),
  /**
   * After Holm's correction for the scores looked at, with missing values and failed calls at their
   * worst. The verdict goes by this one.
   */
  p_adjusted: z.number(),
  verdict: Verdict,
  /** Why a verdict is inconclusive; `null` if it is not. */
  reason: z.string().nullable(),
  /** Scenarios that were compared. A scenario listed several times in a batch counts once. */
  scenarios: z.number(),
  turns: z.number(),
  /** Turns in both runs at which this score could not be compared; they are left out. */
  turns_without_pair: z.number(),
  /** Turns of single attempts where the score, or a part of it, is missing. */
  missing: z.object({ baseline: z.number(), candidate: z.number() }),
  /** The difference with the missing values against the candidate, and for it. */
  difference_bounds: Interval.nullable(),
  /** Failed calls, which count 0 in the means. Absent if no call failed, like the next two. */
  failed: z.object({ baseline: z.number(), candidate: z.number() }).optional(),
  /** The difference with failed calls and missing values against the candidate, and for it. */
  difference_error_bounds: Interval.optional(),
  /** The verdict if failed calls count 0. If it differs from `verdict`, the failed calls decide. */
  verdict_as_counted: Verdict.optional(),
  /** If the verdict is inconclusive and there is a difference. */
  planning: Planning.optional(),
}).meta({ id: "ScoreComparison" });
export type ScoreComparison = z.infer<typeof ScoreComparison>;

/** One scenario in both runs. */
export const MovedScenario = z.object({
  scenario_id: z.string(),
  baseline: z.number(),
  candidate: z.number(),
  difference: z.number(),
}).meta({ id: "MovedScenario" });
export type MovedScenario = z.infer<typeof MovedScenario>;

/** What has no counterpart in the other run. */
export const Unpaired = z.object({
  scenarios: z.array(z.string()),
  /** Turns of scenarios that are in both. */
  turns: z.array(z.object({ scenario_id: z.string(), interaction_id: z.string() })),
  scores: z.array(z.string()),
}).meta({ id: "Unpaired" });
export type Unpaired = z.infer<typeof Unpaired>;

/** The answer to "is the candidate better than the baseline?". */
export const Comparison = z.object({
  /** `regressed` if any score is, else `improved` if any is. */
  verdict: Verdict,
  scores: z.record(z.string(), ScoreComparison),
  /** What was not compared at turns that both runs have, and why. */
  left_out: z.array(LeftOut),
  /** The scenarios that moved most by one score, the furthest first. */
  moved: z.object({
    score: z.string(),
    up: z.array(MovedScenario),
    down: z.array(MovedScenario),
  }).nullable(),
  /** Scenarios that are paired by their id but do not ask or expect the same in both runs. */
  changed: z.array(z.string()),
  /**
   * Only if one run was asked after generated replies and the other one after the references: turns
   * after the first, which are not compared.
   */
  other_history: z.object({ turns: z.number() }).optional(),
  only_in_baseline: Unpaired,
  only_in_candidate: Unpaired,
  method: z.object({
    test: z.string(),
    null_hypothesis: z.string(),
    interval: z.string(),
    correction: z.string(),
    confidence: z.number(),
    scores_looked_at: z.number(),
    /** Of the random sample that stands for all permutations if they are too many. */
    seed: z.number(),
  }),
}).meta({ id: "Comparison" });
export type Comparison = z.infer<typeof Comparison>;
