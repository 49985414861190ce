import { z } from "zod";
import { NOT_UTF8 } from "../../shared/providers/provider.ts";
import { CheckResult } from "./checks.ts";
import { Cost } from "./cost.ts";
import { Grade } from "./grades.ts";
import { Annotation } from "./labels.ts";
import { Interaction } from "./scenario.ts";
import { Scores } from "./statistics.ts";
import { ObservedToolCall } from "./tools.ts";

/** Why an interaction failed; `status` is that of the endpoint's answer, if any. */
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

const JudgeVote = z.object({ grade: z.number(), reason: z.string() }).meta({ id: "JudgeVote" });

/**
 * The answer of the judge. `grade` is the mean of the votes on a scale from 0 to 10, `spread` their
 * standard deviation. `error` says why a vote is missing; then `grade` is `null`.
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

/** The conclusions of `ReplyAgreement`. */
const AGREEMENT_LABELS = ["same", "partly", "adds", "unrelated", "contradicts"] as const;
export const AgreementLabel = z.enum(AGREEMENT_LABELS).meta({ id: "AgreementLabel" });
export type AgreementLabel = z.infer<typeof AgreementLabel>;

/**
 * Probabilities that the reply follows from its reference (`entails`), that it contradicts it, and
 * that the reference follows from the reply (`covers`: nothing is left out).
 */
export const ReplyAgreement = z.object({
  entails: z.number(),
  contradicts: z.number(),
  covers: z.number(),
  label: AgreementLabel,
}).meta({ id: "ReplyAgreement" });
export type ReplyAgreement = z.infer<typeof ReplyAgreement>;

/** One answered or failed turn: all input fields, and the results. */
export const InteractionResult = z.looseObject({
  ...Interaction.shape,
  reference_reply: z.string(),
  scores: Scores,
  score_methods: z.record(z.string(), z.string()).optional(),
  /** The reasons that the caller's own scorers gave. */
  score_reasons: z.record(z.string(), z.string()).optional(),
  /** Planned scores that could not be computed, each with the reason. */
  missing_scores: z.record(z.string(), z.string()).optional(),
  /** Only with the built-in encoder, in languages that it knows. */
  agreement: ReplyAgreement.optional(),
  /**
   * Values (numbers, dates, money, units, codes, names) of the reply that replace those of the
   * reference, in words: `60 days instead of 30 days`; swapped parts of an English sentence. Absent
   * if none was found.
   */
  wrong_values: z.array(z.string()).optional(),
  /**
   * Kinds of facts in which the reply differs from its reference (`number`, `contradiction`, …). Absent
   * if none was found.
   */
  differs_in: z.array(z.string()).optional(),
  annotation: Annotation.optional(),
  judge: JudgeResult.optional(),
  /** Only of turns with checks. */
  check_results: z.array(CheckResult).optional(),
  /**
   * The tool calls, if the run expects any and the endpoint reports them.
   */
  tool_calls: z.array(ObservedToolCall).optional(),
  /** In a retry, the run where the turn was asked, scored and paid for. */
  copied_from_run: z.string().optional(),
  /** In a retry, the run where the turn was asked; it was scored in this one. */
  reply_from_run: z.string().optional(),
  /** Of the call, if `PRICES` is set; `null` if the model has no price or reports no tokens. */
  cost: Cost.nullable().optional(),
  /** Of the judge's calls for the turn, if `PRICES` is set and there were any. */
  judge_cost: Cost.nullable().optional(),
  /** `null` if the reply existed before the run: nobody was asked. */
  latency_ms: z.number().nullable(),
  /** Time to the first token (including reasoning and tool calls), if the reply was streamed. */
  first_token_ms: z.number().optional(),
  usage: InteractionUsage.nullable(),
  /** As the endpoint reports it; `null` if it does not, or if the call failed. */
  finish_reason: z.string().nullable().optional(),
  /** The reply ends at the model's token limit. */
  truncated: z.literal(true).optional(),
  /** The model's reasoning, if the endpoint reports it. It is not scored. */
  reasoning: z.string().optional(),
  /** The endpoint's answer was not valid UTF-8: U+FFFD replaces what could not be decoded. */
  reply_encoding: z.literal(NOT_UTF8).optional(),
  error: InteractionError.optional(),
  /** By people; only in exports. */
  grades: z.array(Grade).optional(),
}).meta({ id: "InteractionResult" });
export type InteractionResult = z.infer<typeof InteractionResult>;
