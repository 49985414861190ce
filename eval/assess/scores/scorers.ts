import type { ScoringPorts } from "../scoring_ports.ts";
import { checksScore } from "./checks.ts";
import { judgeScore } from "./judge.ts";
import { metadataMatch } from "./metadata_match.ts";
import { nearestReference } from "./nearest_reference.ts";
import { describeOverall } from "./overall.ts";
import { textPairs } from "./lexical/text_pairs.ts";
import type { ScoreDescription } from "./score.ts";
import type { Scorer } from "./scorer.ts";
import { toolScores } from "./tools.ts";
import { webhookScores } from "./webhook.ts";
import { meaning } from "./semantic_similarity.ts";

/**
 * Every scorer, in the order in which scores are reported. Scores that compare two texts as they
 * stand have a table of their own in `mod.ts`. `overall` is computed from these.
 */
export const scorers: readonly Scorer[] = [
  nearestReference(textPairs),
  nearestReference(meaning),
  metadataMatch,
  judgeScore,
  checksScore,
  toolScores,
  webhookScores,
];

/** Every score that a result may have, as it is computed with these ports. */
export function describeScores(ports: ScoringPorts): ScoreDescription[] {
  return [...scorers.flatMap((scorer) => scorer.describe(ports)), describeOverall()];
}
