/** The scores of long texts in a thread of their own: some of them take seconds. */
import { serveCalls, stoppable } from "../../../../shared/background/serve_calls.ts";
import { comparePair, type TextPair } from "./pair_scores.ts";

serveCalls(stoppable((pair: TextPair) => comparePair(pair)));
