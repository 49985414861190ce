import { layOut, MODEL_START } from "./layout.ts";

/**
 * The files of the model, from the repository's root: its word pieces, one per line, and the model
 * as it lies in the kernel's memory. `deno task model-weights` writes them.
 */
export const PIECES = "eval/score/embeddings/bert/pieces.txt";
export const WEIGHTS = "eval/score/embeddings/bert/model.bin";

/** Read at once, so that the file is never in memory twice. */
const PIECE_BYTES = 1_000_000;

/** In a compiled program the bundled module of a worker is in the folder of `deno.json`. */
const ROOT = new URL(Deno.build.standalone ? "." : "../../../../", import.meta.url);

export function readVocabulary(): Promise<string> {
  return Deno.readTextFile(new URL(PIECES, ROOT));
}

/** Reads the model into the kernel's memory. */
export async function readWeights(memory: ArrayBufferLike): Promise<void> {
  const model = new Uint8Array(memory, MODEL_START, layOut().modelEnd - MODEL_START);
  using file = await Deno.open(new URL(WEIGHTS, ROOT));
  const piece = new Uint8Array(PIECE_BYTES); // a file cannot be read into shared memory
  for (let at = 0; at < model.length;) {
    const got = file.readSync(piece);
    if (!got) throw new Error(`cannot read the sentence encoder: ${WEIGHTS} ends early`);
    model.set(piece.subarray(0, got), at);
    at += got;
  }
}
