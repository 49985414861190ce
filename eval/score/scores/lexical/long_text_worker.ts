/** Computes the scores of long texts in a worker: some take seconds. */
import { serveCalls, stoppable } from "../../../../shared/service/serve_calls.ts";
import { comparePair, type TextPair } from "./pair_scores.ts";

serveCalls(stoppable((pair: TextPair) => comparePair(pair)));
