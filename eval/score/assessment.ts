import type { ObservedToolCall } from "../test/tools.ts";
import type { InteractionResult, InteractionUsage } from "../test/interaction_result.ts";
import type { Interaction, Metadata } from "../test/scenario.ts";
import type { Scores } from "../test/statistics.ts";

export interface Assessment extends
  Pick<
    InteractionResult,
    | "scores"
    | "score_methods"
    | "missing_scores"
    | "agreement"
    | "wrong_values"
    | "differs_in"
    | "annotation"
    | "judge"
    | "check_results"
    | "score_reasons"
    | "judge_cost"
  > {
  generatedMetadata: Metadata;
}

/** How a reply came about. */
export interface ReplyCircumstances {
  /** How long the endpoint took to answer; `undefined` if the reply existed before the run. */
  latencyMs: number | undefined;
  /** How long until the first token; `undefined` if the reply was not streamed. */
  firstTokenMs: number | undefined;
  /** `null` if the endpoint did not report its tokens. */
  usage: InteractionUsage | null;
  /** The tool calls of the endpoint; `undefined` if it does not report them. */
  toolCalls: ObservedToolCall[] | undefined;
  /** The messages before this turn, with the generated replies, oldest first. */
  conversation(): { role: "user" | "assistant"; content: string }[];
  /** In a run that scores again: the result of the same reply before. */
  earlier?: InteractionResult | undefined;
  /** Time and tokens of the answered turns before this one. */
  spentBefore(): Spent;
}

/** Time and tokens of several replies; each is unknown if it is for one of them. */
export interface Spent {
  latencyMs: number | undefined;
  outputTokens: number | null;
}

/** Compares a reply with its reference. */
export interface Assessor {
  assess(
    interaction: Interaction,
    reply: string,
    /** For scores that look at more than the text. */
    circumstances?: Partial<ReplyCircumstances>,
  ): Promise<Assessment>;
  /** The scores of a failed turn. */
  failed(interaction: Interaction): Promise<Scores>;
  /** The scores of an answered turn whose reply could not be assessed. */
  unscored(
    interaction: Interaction,
    reason: string,
  ): Pick<Assessment, "scores" | "missing_scores">;
}
