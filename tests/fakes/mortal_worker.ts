/** The worker for long texts, but one that dies of replies which begin with "poison". */
import { comparePair, type TextPair } from "../../eval/score/scores/lexical/pair_scores.ts";
import { serveCalls } from "../../shared/service/serve_calls.ts";

serveCalls((pair: TextPair) => {
  if (!pair.reply.startsWith("poison")) return comparePair(pair);
  setTimeout(() => {
    throw new Error("killed by the reply");
  });
  return new Promise<never>(() => {});
});
