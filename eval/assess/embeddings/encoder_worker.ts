/** The sentence encoder in a thread of its own: a batch keeps it busy for a tenth of a second. */
import { serveCalls } from "../../../shared/background/serve_calls.ts";
import type { EncoderInput } from "./encoder_start.ts";
import { createMiniLM } from "./minilm/minilm.ts";
import type { WeightPiece } from "./minilm/weights.ts";

const model = createMiniLM();
const loaded = Promise.withResolvers<void>();

serveCalls(async (input: EncoderInput): Promise<Float32Array[]> => {
  if ("texts" in input) {
    await loaded.promise;
    return model.encode(input.texts);
  }
  if ("failure" in input) loaded.reject(new Error(input.failure));
  else if (input.weights.kind === "end") loaded.resolve();
  else load(input.weights);
  return [];
});

function load(piece: WeightPiece): void {
  model.load(piece);
  // Gives the memory back now: all pieces together would be 45 MB until the next collection.
  if (piece.kind === "tensor") piece.values.buffer.transfer(0);
  if (piece.kind === "image") piece.bytes.buffer.transfer(0);
}
