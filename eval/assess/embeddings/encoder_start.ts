import { errorMessage } from "../../../shared/errors.ts";
import type { WorkerPort } from "../../../shared/background/worker_call.ts";
import { COMPUTE_ONLY } from "../../../shared/background/worker_options.ts";
import type { ModelShape } from "./bert/layout.ts";
import { buffersOf, type ModelSource, type WeightPiece } from "./bert/weight_piece.ts";

/**
 * What an encoder's worker is sent: first the shape of its model, then the weights, or why they
 * cannot be had; then texts.
 */
export type EncoderInput =
  | { texts: string[] }
  | { shape: ModelShape }
  | { weights: WeightPiece }
  | { failure: string };

/** The id of requests whose answer no call waits for. */
const NO_CALL = -1;
const MAX_WAITING = 4;

export interface EncoderStartOptions {
  /** Pieces of 1 MB that may wait for the worker to convert them; 4 if unset. */
  maxWaiting?: number;
  /** Called when the worker has been sent all weights, or why they cannot be had. */
  onSent?: () => void;
}

/**
 * Starts a worker and sends it the weights, which it has no permission to read itself. It converts
 * each piece where it is to stay, so that the published weights are never in memory as a whole.
 */
export function startEncoder(
  { shape, read }: Pick<ModelSource, "shape" | "read">,
  { maxWaiting = MAX_WAITING, onSent }: EncoderStartOptions = {},
): WorkerPort {
  const worker = new Worker(new URL("./encoder_worker.ts", import.meta.url), COMPUTE_ONLY);
  const ending = new AbortController();
  const terminate = worker.terminate.bind(worker);
  worker.terminate = () => {
    ending.abort();
    terminate();
  };
  sendModel(worker, { shape, read, maxWaiting, signal: ending.signal }).then(onSent);
  return worker;
}

/** Never rejects: what goes wrong is sent to the worker, whose calls then fail with it. */
async function sendModel(
  worker: Worker,
  { shape, read, maxWaiting, signal }: Pick<ModelSource, "shape" | "read"> & {
    maxWaiting: number;
    signal: AbortSignal;
  },
): Promise<void> {
  const send = (input: EncoderInput, transfer: Transferable[] = []) =>
    worker.postMessage({ id: NO_CALL, input }, transfer);
  let waiting = 0;
  let room = Promise.withResolvers<void>();
  worker.addEventListener("message", ({ data }) => {
    if (data.id === NO_CALL && --waiting < maxWaiting) room.resolve();
  });
  signal.addEventListener("abort", () => room.resolve());
  try {
    waiting++;
    send({ shape });
    for await (const weights of read()) {
      if (waiting >= maxWaiting) await (room = Promise.withResolvers<void>()).promise;
      if (signal.aborted) return;
      waiting++;
      send({ weights }, buffersOf(weights));
    }
  } catch (error) {
    send({ failure: errorMessage(error) });
  }
}
