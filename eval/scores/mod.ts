import { exactMatch } from "./exact_match.ts";
import { rougeL } from "./rouge.ts";
import type { Scorer } from "./score.ts";
import { tokenF1 } from "./token_f1.ts";

/** Every score that compares a reply with its reference, in the order in which they are reported. */
export const scorers: readonly Scorer[] = [
  textScorer("exact_match", exactMatch),
  textScorer("token_f1", tokenF1),
  textScorer("rouge_l", rougeL),
];

function textScorer(name: string, compare: (reply: string, reference: string) => number): Scorer {
  return {
    name,
    applies: (interaction) => interaction.reference_reply !== undefined,
    score: ({ reply, interaction }) => compare(reply, interaction.reference_reply ?? ""),
  };
}
