import type {
  Interaction,
  InteractionResult,
  Metadata,
  Scores,
} from "../../shared/schemas/evaluate.ts";

export interface Assessment extends
  Pick<
    InteractionResult,
    | "scores"
    | "score_methods"
    | "missing_scores"
    | "overall_bounds"
    | "differs_in"
    | "annotation"
    | "judge"
  > {
  generatedMetadata: Metadata;
}

/** How a reply came about. */
export interface ReplyCircumstances {
  /** How long the endpoint took to answer. */
  latencyMs: number;
  /** What was said before this turn, oldest first. */
  conversation(): { role: "user" | "assistant"; content: string }[];
}

/** Compares a reply with its reference. */
export interface Assessor {
  assess(
    interaction: Interaction,
    reply: string,
    /** For scores that look at more than the text. */
    circumstances?: Partial<ReplyCircumstances>,
  ): Promise<Assessment>;
  /** What a turn without a reply counts. */
  failed(interaction: Interaction): Promise<Scores>;
  /** What an answered turn has if its reply could not be assessed at all. */
  unscored(
    interaction: Interaction,
    reason: string,
  ): Pick<Assessment, "scores" | "missing_scores" | "overall_bounds">;
}
