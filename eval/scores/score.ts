import type { Interaction, Metadata } from "../../shared/schemas/evaluate.ts";

/** A generated reply, the turn it answers and what was read out of it. */
export interface ScoreInput {
  interaction: Interaction;
  reply: string;
  /** What the annotators found in the reply; a key they abstained from is missing. */
  generatedMetadata: Metadata;
}

/** One number for a reply. A value lies in [0, 1]; `null` means "no score for this reply". */
export interface Scorer {
  readonly name: string;
  /** Whether the turn can be scored at all; known before there is a reply. */
  applies(interaction: Interaction): boolean;
  score(input: ScoreInput): number | null | Promise<number | null>;
}
