import { COMPUTE_ONLY } from "../../../shared/background/worker_options.ts";

/** A sentence encoder that is part of the program, by the name that answers have for it. */
export type EncoderModel = "minilm" | "bge-zh";

/** What an encoder's worker is sent. */
export interface EncoderInput {
  texts: string[];
}

/** It may read its weights, and gives that up before the first text. */
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
