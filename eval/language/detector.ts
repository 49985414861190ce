import { COMPUTE_ONLY } from "../../shared/background/worker_options.ts";
import { createBatcher } from "../background/batcher.ts";
import { createMemo } from "../background/memo.ts";
import { createWorkerCall, type WorkerEvent } from "../../shared/background/worker_call.ts";

/** What a text is written in: an ISO 639-1 code, or `null` where there is nothing to tell by. */
export interface Language {
  code: string | null;
  /** Whether the text is long and clear enough to go by. One word rarely is. */
  isReliable: boolean;
}

export interface LanguageDetector extends Disposable {
  detect(text: string): Promise<Language>;
}

/** More of a text tells no more about its language. */
const MAX_CHARACTERS = 1000;
const REMEMBERED = 10_000;
const BATCH = 64;

/** A batch takes milliseconds. */
const TIMEOUT_MS = 30_000;

/** Detects languages in a worker, which is started at the first question. */
export function createLanguageDetector(
  { onEvent }: { onEvent?: (event: WorkerEvent) => void } = {},
): LanguageDetector {
  const call = createWorkerCall<string[], Language[]>(
    () => new Worker(new URL("./language_worker.ts", import.meta.url), COMPUTE_ONLY),
    { name: "language", timeoutMs: TIMEOUT_MS, probe: [], ...(onEvent && { onEvent }) },
  );
  const detect = createMemo(createBatcher(call, { size: BATCH }), { capacity: REMEMBERED });
  return {
    detect: (text) => detect(text.slice(0, MAX_CHARACTERS)),
    [Symbol.dispose]: () => call[Symbol.dispose](),
  };
}
