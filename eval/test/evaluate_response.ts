import { z } from "zod";
import { GradeAgreement } from "./grades.ts";
import { RunLeaks } from "./leaks.ts";
import { CheckCount, Checks } from "./checks.ts";
import { CostSum } from "./cost.ts";
import { History } from "./evaluate_request.ts";
import { AgreementLabel, InteractionResult } from "./interaction_result.ts";
import { LabelReport } from "./labels.ts";
import { PassRates, RunPassRates, Scores, Statistics } from "./statistics.ts";

/**
 * The judge model (`null`: none) and the embedder of a run. Fixed when the run is created, and
 * stored and returned with it.
 */
export const ScoredBy = z.object({ judge: z.string().nullable(), embeddings: z.string() }).meta({
  id: "ScoredBy",
});
export type ScoredBy = z.infer<typeof ScoredBy>;

export const AttemptResult = z.object({
  attempt_id: z.number(),
  interactions: z.array(InteractionResult),
  average_scores: Scores,
  statistics: Statistics,
  execution_time_ms: z.number(),
}).meta({ id: "AttemptResult" });
export type AttemptResult = z.infer<typeof AttemptResult>;

export const ScenarioResult = z.looseObject({
  scenario_id: z.string(),
  description: z.string(),
  attempts: z.array(AttemptResult),
  average_scores: Scores,
  statistics: Statistics,
  ...PassRates.shape,
  labels: z.record(z.string(), LabelReport),
  /** As they were sent. */
  checks: Checks.optional(),
  conversation_checks: Checks.optional(),
}).meta({ id: "ScenarioResult" });
export type ScenarioResult = z.infer<typeof ScenarioResult>;

/**
 * Counts over the turns of a run: missing scores by reason; methods of scores (a mean over several
 * methods mixes them); kinds of facts in which replies differ from their references; replies that
 * end at the model's token limit.
 */
export const TurnCounts = z.object({
  missing_scores: z.array(
    z.object({ score: z.string(), reason: z.string(), turns: z.number() })
      .meta({ id: "MissingScore" }),
  ),
  score_methods: z.record(z.string(), z.record(z.string(), z.number())),
  differs_in: z.record(z.string(), z.number()),
  /** The number of replies by agreement with their references; absent if none was compared. */
  agreements: z.partialRecord(AgreementLabel, z.number()).optional(),
  truncated: z.number(),
  /** By name; absent if the run has no checks. */
  check_counts: z.array(CheckCount).optional(),
  /** Of the endpoint's calls, and of the judge's; absent if `PRICES` was not set. */
  cost: CostSum.optional(),
  judge_cost: CostSum.optional(),
});
export type TurnCounts = z.infer<typeof TurnCounts>;

/** A limitation of the results that readers should know. `code` is stable. */
export const RunNote = z.object({ code: z.string(), detail: z.string() }).meta({ id: "RunNote" });
export type RunNote = z.infer<typeof RunNote>;

const RunResults = z.object({
  scenarios: z.array(ScenarioResult),
  average_scores: Scores,
  statistics: Statistics,
  ...RunPassRates.shape,
  ...TurnCounts.shape,
  labels: z.record(z.string(), LabelReport),
  /** Only in exports of a run that people graded. */
  agreement: GradeAgreement.optional(),
  /** The score without what training files have; only in exports. */
  leaks: RunLeaks.optional(),
}).meta({ id: "RunResults" });

/** The body of the answer. */
export const EvaluateResponse = z.object({
  message: z.string(),
  run_id: z.string(),
  test_name: z.string(),
  /** `null` if the replies existed before the run. */
  endpoint: z.string().nullable(),
  model_id: z.string(),
  scored_by: ScoredBy.optional(),
  notes: z.array(RunNote),
  results: RunResults,
});
export type EvaluateResponse = z.infer<typeof EvaluateResponse>;

/**
 * The answer as it is sent, with the fields of the request, including those that the service does
 * not know.
 */
export const EvaluateAnswer = EvaluateResponse.extend({
  dataset: z.string().optional().meta({ description: "`name@version`, if the run named one." }),
  pass_threshold: z.number().optional(),
  rubric: z.string().optional(),
  judge_votes: z.int().optional(),
  history: History.optional(),
}).loose().meta({ id: "EvaluateResponse" });
