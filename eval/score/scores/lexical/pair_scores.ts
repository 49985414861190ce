import { errorMessage } from "../../../../shared/service/errors.ts";
import type { Scores } from "../../../test/statistics.ts";
import {
  COMPUTE_ONLY,
  createWorkerCall,
  type WorkerEvent,
  type WorkerPort,
} from "../../../../shared/service/worker_call.ts";
import { pairScorers } from "../../pair_scorers.ts";
import { MAX_PAIR_CHARACTERS, type PairScorer } from "../../score.ts";

export interface TextPair {
  reply: string;
  reference: string;
}

/** Every pair score, in the order of the table. */
interface PairComparison {
  /** `null` for a score that is in `missing`. */
  scores: Scores;
  /** The reasons of scores that could not be computed for this pair. */
  missing: Record<string, string>;
}

/** Computes every pair score. Never throws or rejects: a score that fails is `missing`. */
export interface PairComparer extends Disposable {
  compare(pair: TextPair): PairComparison | Promise<PairComparison>;
}

interface PairComparerOptions {
  start?: () => WorkerPort;
  onEvent?: (event: WorkerEvent) => void;
}

/** Up to this length all scores of a pair together take a few milliseconds. */
const LONG_CHARACTERS = 8000;
/** Ten times what the longest texts take on an idle processor. */
const TIMEOUT_MS = 30_000;

/**
 * Compares short texts in this thread and long ones in a worker, so that they do not block the
 * event loop. If the worker fails, the scores are missing. Texts that are too long for every score
 * are not sent to the worker.
 */
export function createPairComparer(
  { start = startLongTextWorker, onEvent }: PairComparerOptions = {},
): PairComparer {
  const call = createWorkerCall<TextPair, PairComparison>(start, {
    name: "long text",
    timeoutMs: TIMEOUT_MS,
    probe: () => ({ reply: "", reference: "" }),
    ...(onEvent && { onEvent }),
  });
  return {
    compare(pair) {
      const { reply, reference } = pair;
      const isShort = reply.length + reference.length <= LONG_CHARACTERS;
      const isHopeless = Math.max(reply.length, reference.length) > MAX_PAIR_CHARACTERS;
      if (isShort || isHopeless) return comparePair(pair);
      return call(pair).catch((error) => allMissing(error.message));
    },
    [Symbol.dispose]: () => call[Symbol.dispose](),
  };
}

/** Every pair score of two texts. A score that throws is missing; the others are not affected. */
export function comparePair(
  pair: TextPair,
  scorers: readonly PairScorer[] = pairScorers,
): PairComparison {
  const scores: Scores = {};
  const missing: Record<string, string> = {};
  for (const scorer of scorers) {
    const outcome = score(scorer, pair);
    scores[scorer.name] = typeof outcome === "number" ? outcome : null;
    if (typeof outcome === "string") missing[scorer.name] = outcome;
  }
  return { scores, missing };
}

/** The score, or the reason why there is none. */
function score({ compare, longest }: PairScorer, { reply, reference }: TextPair): number | string {
  if (reply.length > longest) return tooLong("reply", longest);
  if (reference.length > longest) return tooLong("reference", longest);
  try {
    return compare(reply, reference) ?? "it has no value for these texts";
  } catch (error) {
    return `it failed: ${errorMessage(error)}`;
  }
}

function tooLong(what: string, longest: number): string {
  return `the ${what} is longer than ${longest.toLocaleString("en")} characters`;
}

function allMissing(reason: string): PairComparison {
  const names = pairScorers.map(({ name }) => name);
  return {
    scores: Object.fromEntries(names.map((name) => [name, null])),
    missing: Object.fromEntries(names.map((name) => [name, reason])),
  };
}

/** A worker for `compare`, without permissions. */
export function startLongTextWorker(): WorkerPort {
  return new Worker(new URL("./long_text_worker.ts", import.meta.url), COMPUTE_ONLY);
}
