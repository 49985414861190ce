/** A sentence encoder in a thread of its own: a batch keeps it busy for a tenth of a second. */
import { serveCalls } from "../../../shared/background/serve_calls.ts";
import { createSentenceModel, type SentenceModel } from "./bert/sentence_model.ts";
import { buffersOf, type WeightPiece } from "./bert/weight_piece.ts";
import type { EncoderInput } from "./encoder_start.ts";

let model: SentenceModel | undefined;
const loaded = Promise.withResolvers<SentenceModel>();

serveCalls(async (input: EncoderInput): Promise<Float32Array[]> => {
  if ("texts" in input) return (await loaded.promise).encode(input.texts);
  if ("failure" in input) loaded.reject(new Error(input.failure));
  else if ("shape" in input) model = createSentenceModel(input.shape);
  else load(model!, input.weights);
  return [];
});

function load(model: SentenceModel, piece: WeightPiece): void {
  if (piece.kind === "end") return loaded.resolve(model);
  model.load(piece);
  // Gives the memory back now: all pieces together would be 45 MB until the next collection.
  for (const buffer of buffersOf(piece)) buffer.transfer(0);
}
