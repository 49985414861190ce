import {
  COMPUTE_ONLY,
  type WorkerPort,
  type WorkerRequest,
} from "../../../shared/background/worker_call.ts";
import type { Comparison, EncodedPair } from "./bert/comparing.ts";
import type { EncodedText, SharedModel } from "./bert/sentence_model.ts";
import type { EncoderModel } from "./bert/weight_piece.ts";

/** What an encoder's worker is sent. */
export interface EncoderInput {
  texts: string[];
  /** Texts that were encoded before, to be compared. */
  pairs?: EncodedPair[];
  /** In the first input: the model of another worker, which is used instead of loading it. */
  joins?: SharedModel;
  /** Whether the answer is to have the model, for another worker. */
  lends?: boolean;
}

export interface EncoderOutput {
  texts: EncodedText[];
  comparisons?: Comparison[];
  lent?: SharedModel;
}

/** It may read files, for its weights, and gives that up before the first text. */
export const ENCODER_OPTIONS = {
  type: "module",
  deno: { permissions: { ...COMPUTE_ONLY.deno.permissions, read: "inherit" } },
} as const;

/**
 * Starts a worker. With its first call it loads the model by itself: 45 MB of files would keep this
 * thread busy.
 */
export function startEncoder(model: EncoderModel): Worker {
  return new Worker(new URL("./encoder_worker.ts", import.meta.url), {
    ...ENCODER_OPTIONS,
    name: model,
  });
}

/** Has a worker load its model before the first call; its answer is ignored. */
export function loadAhead(worker: WorkerPort): void {
  const request: WorkerRequest<EncoderInput> = { id: 0, input: { texts: [] }, limitMs: 0 };
  worker.postMessage(request);
}
