import type { Scores } from "../../shared/schemas/evaluate.ts";
import { COMPUTE_ONLY } from "../../shared/background/worker_options.ts";
import { createWorkerCall, type WorkerPort } from "../../shared/background/worker_call.ts";
import { pairScorers } from "./mod.ts";

export interface TextPair {
  reply: string;
  reference: string;
}

/** Computes every pair score. */
export interface PairComparer extends Disposable {
  compare(pair: TextPair): Scores | Promise<Scores>;
}

/** Up to here all scores of a pair together take a few milliseconds. */
const LONG_CHARACTERS = 8000;

/** Short texts are compared here and now, long ones in a worker: they must not block the loop. */
export function createPairComparer(start: () => WorkerPort = startWorker): PairComparer {
  const call = createWorkerCall<TextPair, Scores>(start);
  return {
    compare(pair) {
      if (pair.reply.length + pair.reference.length <= LONG_CHARACTERS) return comparePair(pair);
      return call(pair).catch(() => comparePair(pair)); // no worker: late is better than wrong
    },
    [Symbol.dispose]: () => call[Symbol.dispose](),
  };
}

/** Every pair score of two texts, in the table's order. */
export function comparePair({ reply, reference }: TextPair): Scores {
  return Object.fromEntries(
    pairScorers.map(({ name, compare }) => [name, compare(reply, reference)]),
  );
}

function startWorker(): WorkerPort {
  return new Worker(new URL("./long_text_worker.ts", import.meta.url), COMPUTE_ONLY);
}
