import { bleuScorer } from "./lexical/bleu.ts";
import { chrfScorer } from "./lexical/chrf.ts";
import { editSimilarityScorer } from "./lexical/edit_similarity.ts";
import { exactMatchScorer, tokenF1Scorer } from "./lexical/squad.ts";
import { rougeScorers } from "./lexical/rouge.ts";
import type { PairScorer } from "./score.ts";

/** Every score that compares two texts directly, in the order in which they are reported. */
export const pairScorers: readonly PairScorer[] = [
  exactMatchScorer,
  tokenF1Scorer,
  ...rougeScorers,
  bleuScorer,
  chrfScorer,
  editSimilarityScorer,
];
