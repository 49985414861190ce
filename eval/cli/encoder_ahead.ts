import type { WorkerPort } from "../../shared/background/worker_call.ts";
import type { Scenario } from "../../shared/schemas/scenario.ts";
import { MINILM } from "../assess/embeddings/bert/minilm.ts";
import type { ModelSource } from "../assess/embeddings/bert/weight_piece.ts";
import { startEncoder } from "../assess/embeddings/encoder_start.ts";
import { chooseMethod } from "../assess/scores/similarity_method.ts";

/** The sentence encoder of a run, loaded while the database is opened. */
export interface EncoderAhead {
  /** Starts the encoder if the batch has a reference for it. */
  begin(scenarios: Scenario[]): void;
  /** The worker that was started, to the first who asks for it; else another. */
  start(model: ModelSource): WorkerPort;
}

export function createEncoderAhead(
  start: (model: ModelSource) => WorkerPort = startEncoder,
): EncoderAhead {
  let started: WorkerPort | undefined;
  return {
    begin(scenarios) {
      if (hasReference(scenarios)) started = start(MINILM);
    },
    start(model) {
      if (model !== MINILM || !started) return start(model);
      const taken = started;
      started = undefined;
      return taken;
    },
  };
}

/** Whether the first reference is compared by MiniLM: most batches are in one language. */
function hasReference(scenarios: Scenario[]): boolean {
  for (const { interactions } of scenarios) {
    for (const { reference_reply: reference } of interactions) {
      if (!reference) continue;
      const unknown = { isEnglish: false, isChinese: false, hasCjkEncoder: true };
      const { encoder, share } = chooseMethod(reference, unknown);
      return encoder === "english" && share > 0;
    }
  }
  return false;
}
