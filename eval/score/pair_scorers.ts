import { chrfScorer } from "./scores/lexical/chrf.ts";
import { exactMatchScorer, tokenF1Scorer } from "./scores/lexical/squad.ts";
import { rougeScorer } from "./scores/lexical/rouge.ts";
import type { PairScorer } from "./score.ts";

/** Every score that compares two texts directly, in the order in which they are reported. */
export const pairScorers: readonly PairScorer[] = [
  exactMatchScorer,
  tokenF1Scorer,
  rougeScorer,
  chrfScorer,
];
