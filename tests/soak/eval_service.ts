/**
 * assay-eval whose encoder and long text workers die now and then. They get a message that is no
 * call, and die of an uncaught error, as a worker with a defect does.
 */
import { startEncoder } from "../../eval/score/encoder_start.ts";
import { startLongTextWorker } from "../../eval/score/scores/lexical/pair_scores.ts";
import { defineEval } from "../../eval/service.ts";
import type { WorkerPort } from "../../shared/service/worker_call.ts";
import { startService } from "../../shared/service/ops/start.ts";

const SHORTEST_LIFE_MS = 8_000;
const LONGEST_LIFE_MS = 30_000;

function mortal<Given extends unknown[]>(
  start: (...given: Given) => WorkerPort,
): (...given: Given) => WorkerPort {
  return (...given) => {
    const worker = start(...given);
    const lifeMs = SHORTEST_LIFE_MS + Math.random() * (LONGEST_LIFE_MS - SHORTEST_LIFE_MS);
    Deno.unrefTimer(setTimeout(() => worker.postMessage(null), lifeMs));
    return worker;
  };
}

if (import.meta.main) {
  const starts = { encoder: mortal(startEncoder), longText: mortal(startLongTextWorker) };
  await startService(defineEval(starts));
}
