import type { WorkerPort } from "../../../shared/background/worker_call.ts";
import type { EncoderModel } from "../../assess/embeddings/bert/weight_piece.ts";
import { loadAhead, startEncoder } from "../../assess/embeddings/encoder_start.ts";

/** The sentence encoder of a run, loaded while the command's own modules are. */
export interface EncoderAhead {
  begin(): void;
  /** Ends the encoder: the run has no text for it. */
  end(): void;
  /** The worker that `begin` started, once; after that a new one. */
  start(model: EncoderModel): WorkerPort;
}

export function createEncoderAhead(
  start: (model: EncoderModel) => WorkerPort = startEncoder,
): EncoderAhead {
  let started: WorkerPort | undefined;

  function take(): WorkerPort | undefined {
    const taken = started;
    started = undefined;
    return taken;
  }

  return {
    begin() {
      started = start("minilm");
      started.onerror = (event) => {
        event.preventDefault(); // otherwise it ends the process
        take(); // another one will say what is wrong
      };
      loadAhead(started);
    },
    end: () => take()?.terminate(),
    start: (model) => model === "minilm" && take() || start(model),
  };
}
