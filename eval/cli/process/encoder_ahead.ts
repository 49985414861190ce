import type { WorkerPort } from "../../../shared/service/worker_call.ts";
import { loadAhead, startEncoder } from "../../score/encoder_start.ts";

/** The sentence encoder of a run, loaded while the command's own modules are. */
export type EncoderAhead = ReturnType<typeof createEncoderAhead>;

export function createEncoderAhead(start: () => WorkerPort = startEncoder) {
  let started: WorkerPort | undefined;

  function take(): WorkerPort | undefined {
    const taken = started;
    started = undefined;
    return taken;
  }

  return {
    begin(): void {
      started = start();
      started.onerror = (event) => {
        event.preventDefault(); // otherwise it ends the process
        take(); // another one will say what is wrong
      };
      loadAhead(started);
    },
    /** Ends the encoder: the run has no text for it. */
    end: () => take()?.terminate(),
    /** The worker that `begin` started, once; after that a new one. */
    start: (): WorkerPort => take() ?? start(),
  };
}
