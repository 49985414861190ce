import type { WorkerPort } from "../../shared/background/worker_call.ts";
import { MINILM } from "../assess/embeddings/bert/minilm.ts";
import type { ModelSource } from "../assess/embeddings/bert/weight_piece.ts";
import { type EncoderStartOptions, startEncoder } from "../assess/embeddings/encoder_start.ts";

/** The sentence encoder of a run, loaded while the command's own modules are. */
export interface EncoderAhead {
  /** Resolves when the encoder has all it needs. */
  begin(): Promise<void>;
  /** Ends the encoder: the run has no text for it. */
  end(): void;
  /** The worker that was started, to the first who asks for it; else another. */
  start(model: ModelSource): WorkerPort;
}

export function createEncoderAhead(
  start: (model: ModelSource, options?: EncoderStartOptions) => WorkerPort = startEncoder,
): EncoderAhead {
  let started: WorkerPort | undefined;

  function take(): WorkerPort | undefined {
    const taken = started;
    started = undefined;
    return taken;
  }

  return {
    async begin() {
      const sent = Promise.withResolvers<void>();
      started = start(MINILM, { maxWaiting: Infinity, onSent: sent.resolve });
      started.onerror = (event) => {
        event.preventDefault(); // otherwise it ends the process
        take(); // another one will say what is wrong
      };
      await sent.promise;
    },
    end: () => take()?.terminate(),
    start: (model) => model === MINILM && take() || start(model),
  };
}
