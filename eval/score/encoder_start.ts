import {
  COMPUTE_ONLY,
  type WorkerPort,
  type WorkerRequest,
} from "../../shared/service/worker_call.ts";
import type { Comparison, EncodedPair } from "./embeddings/bert/comparing.ts";
import type { EncodedText, SharedModel } from "./embeddings/bert/sentence_model.ts";

/** A message to an encoder's worker. */
export interface EncoderInput {
  texts: string[];
  /** Encoded texts to compare. */
  pairs?: EncodedPair[];
  /** Only in the first message: the model of another worker, to use instead of loading it. */
  joins?: SharedModel;
  /** Asks for the model, for another worker to join. */
  lends?: boolean;
}

export interface EncoderOutput {
  texts: EncodedText[];
  comparisons?: Comparison[];
  lent?: SharedModel;
}

/** The worker may read files, for its weights. It drops the permission before the first text. */
export const ENCODER_OPTIONS = {
  type: "module",
  deno: { permissions: { ...COMPUTE_ONLY.deno.permissions, read: "inherit" } },
} as const;

/**
 * Starts a worker. It loads the model itself with its first call, because reading 23 MB would block
 * this thread.
 */
export function startEncoder(): Worker {
  return new Worker(new URL("./encoder_worker.ts", import.meta.url), ENCODER_OPTIONS);
}

/** Makes a worker load its model before the first call. Its answer is ignored. */
export function loadAhead(worker: WorkerPort): void {
  const request: WorkerRequest<EncoderInput> = { id: 0, input: { texts: [] }, limitMs: 0 };
  worker.postMessage(request);
}
