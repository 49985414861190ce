import { COMPUTE_ONLY } from "../../shared/background/worker_options.ts";
import { createBatcher } from "../background/batcher.ts";
import { createMemo, LONGEST_REMEMBERED } from "../background/memo.ts";
import {
  createWorkerCall,
  type WorkerEvent,
  type WorkerPort,
} from "../../shared/background/worker_call.ts";
import { type Embedder, pool } from "./embedder.ts";
import { cutWindows } from "./windows.ts";

/** Larger batches take as long a text, and keep a small run waiting behind a large one. */
const BATCH = 16;
/**
 * Vectors of 2 KB, 10 MB in all, beside the texts they belong to: 5 MB where a text is 1 KB, and
 * 200 MB were each as long as one that is remembered can be.
 */
const REMEMBERED = 5000;

/** A batch takes one or two seconds. */
const TIMEOUT_MS = 60_000;

export interface LocalEmbedderOptions {
  /** How many may encode at once: each takes a processor and 200 MB. */
  workers?: number;
  start?: () => WorkerPort;
  /** Told what happens to each of the workers; called once for each. */
  watch?: () => (event: WorkerEvent) => void;
}

/**
 * The English sentence encoder that is part of the program, in workers that are started as texts
 * come. A run's references, and replies that repeat, are encoded once, very long ones apart.
 */
export function createLocalEmbedder(
  { workers = 1, start = startWorker, watch }: LocalEmbedderOptions = {},
): Embedder {
  const calls = Array.from(
    { length: workers },
    () =>
      createWorkerCall<string[], Float32Array[]>(start, {
        name: "encoder",
        timeoutMs: TIMEOUT_MS,
        probe: [],
        ...(watch && { onEvent: watch() }),
      }),
  );
  const encode = createBatcher((texts: string[], lane) => calls[lane]!(texts), {
    size: BATCH,
    lanes: workers,
  });
  const embed = createMemo(
    async (text) => pool(await Promise.all(cutWindows(text).map(encode))),
    { capacity: REMEMBERED, longest: LONGEST_REMEMBERED },
  );
  return {
    method: "sentence_embeddings",
    isEnglishOnly: true,
    embed,
    [Symbol.dispose]: () => calls.forEach((call) => call[Symbol.dispose]()),
  };
}

function startWorker(): WorkerPort {
  return new Worker(new URL("./encoder_worker.ts", import.meta.url), COMPUTE_ONLY);
}
