import { bleuScorer } from "./bleu.ts";
import { chrfScorer } from "./chrf.ts";
import { editSimilarityScorer } from "./edit_similarity.ts";
import { exactMatchScorer } from "./exact_match.ts";
import { rougeScorers } from "./rouge.ts";
import type { PairScorer } from "./score.ts";
import { tokenF1Scorer } from "./token_f1.ts";

/** Every score that compares two texts as they stand, in the order in which they are reported. */
export const pairScorers: readonly PairScorer[] = [
  exactMatchScorer,
  tokenF1Scorer,
  ...rougeScorers,
  bleuScorer,
  chrfScorer,
  editSimilarityScorer,
];
