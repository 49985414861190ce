import { COMPUTE_ONLY } from "../../../shared/background/worker_options.ts";
import type { EncoderModel } from "./bert/weight_piece.ts";

/** What an encoder's worker is sent. */
export interface EncoderInput {
  texts: string[];
}

/** It may read files, for its weights, and gives that up before the first text. */
export const ENCODER_OPTIONS = {
  type: "module",
  deno: { permissions: { ...COMPUTE_ONLY.deno.permissions, read: "inherit" } },
} as const;

/** Starts a worker, which loads the model by itself: 45 MB of files would keep this thread busy. */
export function startEncoder(model: EncoderModel): Worker {
  return new Worker(new URL("./encoder_worker.ts", import.meta.url), {
    ...ENCODER_OPTIONS,
    name: model,
  });
}
