import { z } from "zod";
import { NOT_UTF8 } from "../../shared/http/body/utf8.ts";
import { CheckResult } from "./checks.ts";
import { Cost } from "./cost.ts";
import { Grade } from "./grades.ts";
import { Annotation } from "./labels.ts";
import { Interaction } from "./scenario.ts";
import { Scores } from "./statistics.ts";
import { ObservedToolCall } from "./tools.ts";

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

const JudgeVote = z.object({ grade: z.number(), reason: z.string() }).meta({ id: "JudgeVote" });

/**
 * What the judge said. `grade` is on its own scale from 0 to 10, the mean of the votes that could
 * be read; `spread` their standard deviation. `error` says why a vote is missing.
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

/** In words what `ReplyAgreement` says of a reply. */
const AGREEMENT_LABELS = ["same", "partly", "adds", "unrelated", "contradicts"] as const;
export const AgreementLabel = z.enum(AGREEMENT_LABELS).meta({ id: "AgreementLabel" });
export type AgreementLabel = z.infer<typeof AgreementLabel>;

/**
 * Whether the reply says what its reference says, as probabilities: that the reply follows from the
 * reference (`entails`), that it contradicts it, and that the reference follows from the reply
 * (`covers`: nothing is left out).
 */
export const ReplyAgreement = z.object({
  entails: z.number(),
  contradicts: z.number(),
  covers: z.number(),
  label: AgreementLabel,
}).meta({ id: "ReplyAgreement" });
export type ReplyAgreement = z.infer<typeof ReplyAgreement>;

/** One answered or failed turn: all input fields, and what came of them. */
export const InteractionResult = z.looseObject({
  ...Interaction.shape,
  reference_reply: z.string(),
  scores: Scores,
  score_methods: z.record(z.string(), z.string()).optional(),
  /** What the caller's own scorers said about their scores. */
  score_reasons: z.record(z.string(), z.string()).optional(),
  /** Scores that this turn should have and that could not be computed, each with the reason. */
  missing_scores: z.record(z.string(), z.string()).optional(),
  /**
   * `overall` with its missing parts at their lowest and at their highest; only if it is missing.
   */
  overall_bounds: z.tuple([z.number(), z.number()]).optional(),
  /** Only of English references, with the built-in encoder. */
  agreement: ReplyAgreement.optional(),
  /**
   * Values (numbers, dates, money, units, codes) of the reply that are not those of the reference,
   * in words: `60 days instead of 30 days`; parts of an English sentence that changed places, and a
   * Chinese negation. Absent if none was found.
   */
  wrong_values: z.array(z.string()).optional(),
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
  /**
   * What the endpoint called, if the run expects tool calls anywhere and the endpoint reports them.
   */
  tool_calls: z.array(ObservedToolCall).optional(),
  /** In a run that retries another one: where the turn was asked and scored, and paid for. */
  copied_from_run: z.string().optional(),
  /** The same of a turn that was asked there and scored here. */
  reply_from_run: z.string().optional(),
  /** Of the call, if `PRICES` is set; `null` if the model has no price or reported no tokens. */
  cost: Cost.nullable().optional(),
  /** Of the judge's calls for the turn, if `PRICES` is set and there were any. */
  judge_cost: Cost.nullable().optional(),
  latency_ms: z.number(),
  /** From the request to the first token (also of reasoning or of a call), if it was streamed. */
  first_token_ms: z.number().optional(),
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
  /** The endpoint's bytes were not UTF-8: the reply has U+FFFD for what could not be read. */
  reply_encoding: z.literal(NOT_UTF8).optional(),
  error: InteractionError.optional(),
  /** By people; only in exports. */
  grades: z.array(Grade).optional(),
}).meta({ id: "InteractionResult" });
export type InteractionResult = z.infer<typeof InteractionResult>;
