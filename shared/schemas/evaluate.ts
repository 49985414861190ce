import { z } from "zod";
import { Agreement } from "./agreement.ts";
import { NOT_UTF8 } from "../http/utf8.ts";
import { CheckCount, CheckResult, Checks } from "./checks.ts";
import { Cost, CostSum } from "./cost.ts";
import { ObservedToolCall, ReferenceTools, ToolsMode } from "./tools.ts";
import { Grade } from "./grades.ts";
import { ScoreNoise } from "./noise.ts";

/** Ids stand in logs, lists, file names of reports and statistics: they are names, not texts. */
const LONGEST_ID = 256;
const LONGEST_ADDRESS = 2_048;

const Id = z.string().max(LONGEST_ID);

const Metadata = z.record(z.string(), z.unknown()).meta({ id: "Metadata" });
export type Metadata = z.infer<typeof Metadata>;

/**
 * One turn of a test conversation. Unknown fields are kept and returned.
 * `reference_reply` has no default here: a turn without a reference is not scored against an empty
 * one. The answer has `""` in its place.
 */
export const Interaction = z.looseObject({
  id: Id,
  user_message: z.string(),
  agent_reply: z.string().default(""),
  reference_reply: z.string().optional(),
  interaction_type: z.string().default("opening"),
  reference_metadata: Metadata.default({}),
  generated_metadata: Metadata.default({}),
  checks: Checks.optional(),
  /** The tool calls that the reply should come with; `[]`: none. */
  reference_tools: ReferenceTools.optional(),
  /** `exact` if unset. */
  tools_mode: ToolsMode.optional(),
}).meta({ id: "Interaction" });
export type Interaction = z.infer<typeof Interaction>;

/** A test conversation. */
export const Scenario = z.looseObject({
  id: Id,
  interactions: z.array(Interaction).min(1),
  description: z.string().default(""),
  /** For every turn, beside its own. */
  checks: Checks.optional(),
  /** For all replies of a conversation together. */
  conversation_checks: Checks.optional(),
}).meta({ id: "Scenario" });
export type Scenario = z.infer<typeof Scenario>;

/** Batches that were sent as one scenario instead of a list. */
const sentAsOne = new WeakSet<Scenario[]>();

/** Where the caller wrote a scenario: `test_batch`, or `test_batch.3`. */
export function batchPath(batch: Scenario[], index: number): string {
  return sentAsOne.has(batch) ? "test_batch" : `test_batch.${index}`;
}

function asBatch(scenario: Scenario): Scenario[] {
  const batch = [scenario];
  sentAsOne.add(batch);
  return batch;
}

/** How an endpoint is asked; see `eval/endpoint/target.ts`. */
export const Protocol = z.enum(["openai", "agent"]).meta({ id: "Protocol" });
export type Protocol = z.infer<typeof Protocol>;

/** Passed on to the model under test. */
export const ModelParameters = z.strictObject({
  temperature: z.number().min(0).optional(),
  max_tokens: z.int().min(1).optional(),
  seed: z.int().optional(),
  system_prompt: z.string().min(1).optional(),
}).meta({ id: "ModelParameters" });
export type ModelParameters = z.infer<typeof ModelParameters>;

/** The name of a model at its endpoint. */
export const ModelId = Id.trim().min(1);

/** The address of a model under test. */
export const Endpoint = z.url({
  protocol: /^https?$/,
  error: "must be an http or https URL",
  abort: true,
})
  .max(LONGEST_ADDRESS)
  .refine((url) => new URL(url).username === "" && new URL(url).password === "", {
    error: "must not contain a user name or a password: the service has its own credentials",
  });

/**
 * What a turn is asked after: the generated replies, the references, or both, one after the other.
 * `generated` if unset.
 */
export const History = z.enum(["generated", "reference", "both"]).meta({ id: "History" });
export type History = z.infer<typeof History>;

/** The body of `POST /evaluate`. `maxAttempts` bounds what one request may cost. */
export function evaluateRequest(maxAttempts: number) {
  return z.looseObject({
    test_batch: z.union([Scenario.transform(asBatch), z.array(Scenario).min(1)]),
    endpoint: Endpoint,
    model_id: ModelId,
    attempts: z.int().min(1).max(maxAttempts).default(1),
    test_name: z.string().optional(),
    protocol: Protocol.optional(),
    parameters: ModelParameters.default({}),
    pass_threshold: z.number().min(0).max(1).optional(),
    rubric: z.string().trim().min(1).optional(),
    judge_votes: z.int().min(1).max(9).optional(),
    history: History.optional(),
    /** Instead of `test_batch`; a stored request has both, and `name@version` here. */
    dataset: z.string().optional(),
  });
}
export type EvaluateRequest = z.infer<ReturnType<typeof evaluateRequest>>;

/**
 * What scores a run's meanings and grades: the judge model (`null`: none) and the embedder. Fixed
 * when the run is created, and stored and answered with it.
 */
export const ScoredBy = z.object({ judge: z.string().nullable(), embeddings: z.string() }).meta({
  id: "ScoredBy",
});
export type ScoredBy = z.infer<typeof ScoredBy>;

/** Score names to values in [0, 1]; `null` if a score does not apply. */
export const Scores = z.record(z.string(), z.number().nullable()).meta({ id: "Scores" });
export type Scores = z.infer<typeof Scores>;

/**
 * One score over many turns. `failed` turns count 0 in `mean`. `turns` is the number of turns behind
 * the mean; `n` is the number of values averaged, which for a whole run are its scenarios. `missing`
 * turns should have the score but it could not be computed; they are not in `mean`, and `bounds` says
 * what the mean would be with all of them at their lowest and at their highest (`null` if none is
 * missing). `error_bounds` says what it would be with failed turns at 0 and at 1, and the missing as
 * in `bounds`; absent if no turn failed. `stderr` is clustered by attempt if turns of several attempts are pooled. `ci95` is a
 * Wilson interval with the effective sample size of the clusters, within [0, 1]. Both, and `stdev`,
 * are `null` if there are fewer than two to compare.
 */
export const Statistic = z.object({
  n: z.number(),
  turns: z.number(),
  failed: z.number(),
  missing: z.number(),
  bounds: z.tuple([z.number(), z.number()]).nullable(),
  mean: z.number().nullable(),
  mean_of_answered: z.number().nullable(),
  stdev: z.number().nullable(),
  stderr: z.number().nullable(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
  error_bounds: z.tuple([z.number(), z.number()]).optional(),
}).meta({ id: "Statistic" });
export type Statistic = z.infer<typeof Statistic>;

const Statistics = z.record(z.string(), Statistic).meta({ id: "Statistics" });

/**
 * How often a scenario's attempts reach the threshold on `overall`; keys of the records are k.
 * `undecided` attempts lack so much that they might pass or not: they are in none of the rates.
 */
export const PassRates = z.object({
  pass_threshold: z.number(),
  pass_rate: z.number().nullable(),
  pass_at_k: z.record(z.string(), z.number()),
  pass_hat_k: z.record(z.string(), z.number()),
  undecided: z.number(),
});
export type PassRates = z.infer<typeof PassRates>;

/** A mean over `n` scenarios; `ci95` is as in `Statistic`, `null` for one scenario. */
const RateOfScenarios = z.object({
  n: z.number(),
  mean: z.number(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
}).meta({ id: "RateOfScenarios" });

/**
 * The pass rates of a whole run: means over its scenarios, which count alike. `n` of a k is the
 * number of scenarios with at least k decided attempts. `pass_rate` is `null` if no attempt of any
 * scenario is decided; `undecided` counts attempts.
 */
export const RunPassRates = z.object({
  pass_threshold: z.number(),
  pass_rate: RateOfScenarios.nullable(),
  pass_at_k: z.record(z.string(), RateOfScenarios),
  pass_hat_k: z.record(z.string(), RateOfScenarios),
  undecided: z.number(),
});
export type RunPassRates = z.infer<typeof RunPassRates>;

/**
 * How many of the batch's own references a key's annotator labels right, each treated as a reply
 * that it has not seen (leave-one-out). `accuracy` is `null` if there was nothing to check with. If
 * it is clearly below `floor`, the key is not labelled in this batch.
 */
export const SelfCheck = z.object({
  right: z.number(),
  of: z.number(),
  accuracy: z.number().nullable(),
  floor: z.number(),
}).meta({ id: "SelfCheck" });
export type SelfCheck = z.infer<typeof SelfCheck>;

/**
 * What became of a metadata key's expected labels: expected → found → how often. `flip_rate` is the
 * share of pairs of attempts that disagree about the same turn; `null` without such a pair.
 * `self_check` is there if the service's own annotators label the key.
 */
export const LabelReport = z.object({
  confusion: z.record(z.string(), z.record(z.string(), z.number())),
  flip_rate: z.number().nullable(),
  self_check: SelfCheck.optional(),
}).meta({ id: "LabelReport" });
export type LabelReport = z.infer<typeof LabelReport>;

/** Why an interaction failed; `status` is the endpoint's, if it answered at all. */
export const InteractionError = z.object({
  code: z.string(),
  status: z.number().nullable(),
  detail: z.string(),
}).meta({ id: "InteractionError" });
export type InteractionError = z.infer<typeof InteractionError>;

export const InteractionUsage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_tokens: z.number(),
}).meta({ id: "InteractionUsage" });
export type InteractionUsage = z.infer<typeof InteractionUsage>;

const AnnotationNote = z.object({
  method: z.string(),
  confidence: z.number().nullable(),
  /** Why there is no label. */
  reason: z.string().optional(),
  /** `true`: the judge says that none of the batch's labels fits, so that the match is 0. */
  none_fits: z.literal(true).optional(),
  /** `false`: the key takes no part in `metadata_match`, decided from the batch before any reply. */
  counts: z.literal(false).optional(),
  self_check: SelfCheck.optional(),
}).meta({ id: "AnnotationNote" });

/** How the generated metadata was found: over all keys (the lowest confidence), and for each. */
export const Annotation = AnnotationNote.extend({ keys: z.record(z.string(), AnnotationNote) })
  .meta({ id: "Annotation" });
export type Annotation = z.infer<typeof Annotation>;

const JudgeVote = z.object({ grade: z.number(), reason: z.string() }).meta({ id: "JudgeVote" });

/**
 * What the judge said. `grade` is on its own scale from 0 to 10, the mean of the votes that could be
 * read; `spread` their standard deviation. `error` says why a vote is missing.
 */
export const JudgeResult = z.object({
  model: z.string(),
  grade: z.number().nullable(),
  reason: z.string().nullable(),
  votes: z.array(JudgeVote),
  spread: z.number().nullable(),
  error: z.enum(["judge_unreadable", "judge_unavailable"]).optional(),
}).meta({ id: "JudgeResult" });
export type JudgeResult = z.infer<typeof JudgeResult>;

/** One answered or failed turn: all input fields, and what came of them. */
export const InteractionResult = Interaction.extend({
  reference_reply: z.string(),
  scores: Scores,
  score_methods: z.record(z.string(), z.string()).optional(),
  /** Scores that this turn should have and that could not be computed, each with the reason. */
  missing_scores: z.record(z.string(), z.string()).optional(),
  /** `overall` with its missing parts at their lowest and at their highest; only if it is missing. */
  overall_bounds: z.tuple([z.number(), z.number()]).optional(),
  /**
   * Kinds of facts in which the reply differs from its reference (`number`, `negation`, …); a reply
   * may be near in meaning and still say the opposite. Absent if none was found.
   */
  differs_in: z.array(z.string()).optional(),
  annotation: Annotation.optional(),
  judge: JudgeResult.optional(),
  /** Of a turn with checks: what became of each. */
  check_results: z.array(CheckResult).optional(),
  /** The turn was asked a second time, after the references (`history: "both"`). */
  history_of: z.literal("reference").optional(),
  /** What the endpoint called, if the run expects tool calls anywhere and the endpoint reports them. */
  tool_calls: z.array(ObservedToolCall).optional(),
  /** In a run that retries another one: where the turn was asked, and paid for. */
  copied_from_run: z.string().optional(),
  /** Of the call, if `PRICES` is set; `null` if the model has no price or reported no tokens. */
  cost: Cost.nullable().optional(),
  /** Of the judge's calls for the turn, if `PRICES` is set and there were any. */
  judge_cost: Cost.nullable().optional(),
  latency_ms: z.number(),
  usage: InteractionUsage.nullable(),
  /**
   * Why the model stopped, in the endpoint's own word; `null` if it did not say, or if the call
   * failed. Turns of earlier versions lack it.
   */
  finish_reason: z.string().nullable().optional(),
  /** The reply ends at the model's token limit. */
  truncated: z.literal(true).optional(),
  /** What the model thought before it replied, if the endpoint shows it. It is not scored. */
  reasoning: z.string().optional(),
  /** The endpoint's bytes were not UTF-8: U+FFFD stands in the reply for what could not be read. */
  reply_encoding: z.literal(NOT_UTF8).optional(),
  error: InteractionError.optional(),
  /** By people; only in exports. */
  grades: z.array(Grade).optional(),
}).meta({ id: "InteractionResult" });
export type InteractionResult = z.infer<typeof InteractionResult>;

/**
 * A score of the same turns after the generated replies and after the references. `gap` is reference
 * − generated: what is lost because earlier replies were wrong.
 */
export const ScenarioHistoryGap = z.object({
  generated: z.number(),
  reference: z.number(),
  gap: z.number(),
  turns: z.number(),
}).meta({ id: "ScenarioHistoryGap" });
export type ScenarioHistoryGap = z.infer<typeof ScenarioHistoryGap>;

/** The same over scenarios, which count alike; `ci95` is `null` for fewer than two. */
export const HistoryGap = ScenarioHistoryGap.extend({
  scenarios: z.number(),
  ci95: z.tuple([z.number(), z.number()]).nullable(),
}).meta({ id: "HistoryGap" });
export type HistoryGap = z.infer<typeof HistoryGap>;

export const AttemptResult = z.object({
  attempt_id: z.number(),
  /** The turns were asked after the references (`history: "both"`); no part of the averages. */
  history_of: z.literal("reference").optional(),
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
  /** By score, of turn 2 and later; only with `history: "both"`. */
  history_gap: z.record(z.string(), ScenarioHistoryGap).optional(),
  labels: z.record(z.string(), LabelReport),
}).meta({ id: "ScenarioResult" });
export type ScenarioResult = z.infer<typeof ScenarioResult>;

/**
 * Counts over the turns of a run: scores that are missing, by reason; the methods by which scores
 * were computed (a mean over several methods mixes them); kinds of facts in which replies differ
 * from their references; replies that end at the model's token limit.
 */
export const TurnCounts = z.object({
  missing_scores: z.array(
    z.object({ score: z.string(), reason: z.string(), turns: z.number() })
      .meta({ id: "MissingScore" }),
  ),
  score_methods: z.record(z.string(), z.record(z.string(), z.number())),
  differs_in: z.record(z.string(), z.number()),
  truncated: z.number(),
  /** By name; absent if the run has no checks. */
  check_counts: z.array(CheckCount).optional(),
  /** Of the endpoint's calls, and of the judge's; absent if `PRICES` was not set. */
  cost: CostSum.optional(),
  judge_cost: CostSum.optional(),
});
export type TurnCounts = z.infer<typeof TurnCounts>;

/** Something that a reader of the results should know before trusting them. `code` is stable. */
export const RunNote = z.object({ code: z.string(), detail: z.string() }).meta({ id: "RunNote" });
export type RunNote = z.infer<typeof RunNote>;

const RunResults = z.object({
  scenarios: z.array(ScenarioResult),
  average_scores: Scores,
  statistics: Statistics,
  ...RunPassRates.shape,
  ...TurnCounts.shape,
  /** By score, of turn 2 and later; only with `history: "both"`. */
  history_gap: z.record(z.string(), HistoryGap).optional(),
  labels: z.record(z.string(), LabelReport),
  /** By score; only in an export that was asked for it. */
  noise: z.record(z.string(), ScoreNoise).optional(),
  /** Only in exports of a run that people graded. */
  agreement: Agreement.optional(),
}).meta({ id: "RunResults" });

/** The body of the answer. */
export const EvaluateResponse = z.object({
  message: z.string(),
  run_id: z.string(),
  test_name: z.string(),
  endpoint: z.string(),
  model_id: z.string(),
  scored_by: ScoredBy.optional(),
  notes: z.array(RunNote),
  results: RunResults,
});
export type EvaluateResponse = z.infer<typeof EvaluateResponse>;

/** The same as it is sent: the request's fields that the service does not know are in it too. */
export const EvaluateAnswer = EvaluateResponse.loose().meta({ id: "EvaluateResponse" });
