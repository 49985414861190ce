// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * `deno task model-weights FOLDER`: converts a trained model to the files of the repository. The
 * folder has `model.words.bin`, `model.lower.bin` and `model.upper.bin` (16-bit floats, in the
 * layout of safetensors), `pieces.json`, and `reference.json` with what the floats give for pairs
 * of texts, which tests compare with the kernel.
 */
import { join } from "node:path";
import {
  type Address,
  GROUP,
  type Layer,
  layOut,
  type Linear,
  MODEL_START,
  type Norm,
  PANEL,
  POSITIONS,
  SHAPE,
  WEIGHT_OFFSET,
} from "../eval/score/embeddings/bert/layout.ts";
import {
  type EncodedText,
  loadSentenceModel,
} from "../eval/score/embeddings/bert/sentence_model.ts";
import { PIECES, WEIGHTS } from "../eval/score/embeddings/bert/weights.ts";

const ROOT = new URL("../", import.meta.url);
const REFERENCE = "tests/eval/score/embeddings/data/reference.json";
/** What the kernel gives here, and must give on every machine. */
const VECTOR = "tests/eval/score/embeddings/data/vector.json";
const PARTS = ["words", "lower", "upper"];

const BYTE_PEAK = 127;
const WEIGHT_PEAK = 63;
/** The largest factor of a group: with more, the sums of the kernel would overflow. */
const LARGEST_FACTOR = 48;

type Tensors = Map<string, Float32Array>;

/** Eight bytes with the length of the JSON, the JSON, then the tensors. */
async function readTensors(folder: string): Promise<Tensors> {
  const tensors: Tensors = new Map();
  for (const part of PARTS) {
    const { buffer } = await Deno.readFile(join(folder, `model.${part}.bin`));
    const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, start - 8)));
    for (const [name, { data_offsets: [from, end] }] of Object.entries<Tensor>(head)) {
      const halves = new Float16Array(buffer.slice(start + from, start + end));
      tensors.set(name, Float32Array.from(halves));
    }
  }
  return tensors;
}

interface Tensor {
  data_offsets: [from: number, end: number];
}

/** The model as it lies in the kernel's memory. */
function packModel(tensors: Tensors): Uint8Array {
  const at = layOut();
  const { buffer } = new Uint8Array(at.modelEnd);
  const tensor = (name: string) => {
    const values = tensors.get(name);
    if (!values) throw new Error(`the folder has no tensor ${name}`);
    return values;
  };
  const putFloats = (name: string, to: Address, length = tensor(name).length) =>
    new Float32Array(buffer, to).set(tensor(name).subarray(0, length));

  function putWords(): void {
    const { narrow, vocabulary } = SHAPE;
    const [bytes, scales] = [
      new Int8Array(buffer, at.words),
      new Float32Array(buffer, at.wordScales),
    ];
    for (let row = 0; row < vocabulary; row++) {
      const values = tensor("words").subarray(row * narrow, (row + 1) * narrow);
      const scale = peakOf(values) / BYTE_PEAK || 1;
      scales[row] = scale;
      values.forEach((value, i) => bytes[row * narrow + i] = Math.round(value / scale));
    }
  }

  function putNorm(name: string, { gain, bias }: Norm): void {
    putFloats(`${name}.weight`, gain);
    putFloats(`${name}.bias`, bias);
  }

  function putLinear(name: string, linear: Linear): void {
    const { outputs, inputs } = linear;
    putFloats(`${name}.bias`, linear.bias);
    const weights = tensor(`${name}.weight`);
    const bytes = new Uint8Array(buffer, linear.weights);
    const factors = new Int32Array(buffer, linear.factors);
    const scales = new Float32Array(buffer, linear.scales);
    const groups = inputs / GROUP;
    for (let output = 0; output < outputs; output++) {
      const [lane, panel] = [output % PANEL, output - output % PANEL];
      const row = weights.subarray(output * inputs, (output + 1) * inputs);
      const unit = peakOf(row) / LARGEST_FACTOR || 1;
      scales[output] = unit / WEIGHT_PEAK;
      for (let group = 0; group < groups; group++) {
        const values = row.subarray(group * GROUP, (group + 1) * GROUP);
        const factor = factorFor(values, scales[output]!);
        factors[panel * groups + group * PANEL + lane] = factor;
        for (const [i, value] of values.entries()) {
          const input = group * GROUP + i;
          const place = panel * inputs + (input >> 2) * 4 * PANEL + lane * 4 + input % 4;
          bytes[place] = roundWeight(value, factor * scales[output]!) + WEIGHT_OFFSET;
        }
      }
    }
  }

  function putLayer(name: string, layer: Layer): void {
    putLinear(`${name}.qkv`, layer.qkv);
    putLinear(`${name}.attended`, layer.attended);
    putNorm(`${name}.norm1`, layer.afterAttention);
    putLinear(`${name}.up`, layer.up);
    putLinear(`${name}.down`, layer.down);
    putNorm(`${name}.norm2`, layer.afterFeedForward);
  }

  putWords();
  putLinear("wide", at.wide);
  putFloats("places", at.positions, POSITIONS * SHAPE.width);
  putNorm("norm", at.first);
  at.layers.forEach((layer, index) => putLayer(`layers.${index}`, layer));
  const { comparing } = at;
  putFloats("compare.segment", comparing.segments);
  comparing.layers.forEach((layer, index) => putLayer(`compare.layers.${index}`, layer));
  putFloats("compare.out", comparing.out);
  putFloats("compare.bias", comparing.outBias);
  putFloats("compare.cos", comparing.cosine);
  return new Uint8Array(buffer, MODEL_START);
}

function roundWeight(value: number, scale: number): number {
  return Math.max(-WEIGHT_PEAK, Math.min(WEIGHT_PEAK, Math.round(value / scale)));
}

/** A factor this much too small for the largest weight of a group may have a smaller error. */
const LEAST_SHARE = 0.6;

/** The factor with the smallest error. */
function factorFor(values: Float32Array, scale: number): number {
  const enough = Math.max(1, Math.ceil(peakOf(values) / (scale * WEIGHT_PEAK)));
  let [best, least] = [enough, Infinity];
  for (let factor = enough; factor >= LEAST_SHARE * enough; factor--) {
    const error = errorOf(values, factor * scale);
    if (error < least) [best, least] = [factor, error];
  }
  return best;
}

function errorOf(values: Float32Array, step: number): number {
  let error = 0;
  for (const value of values) error += (roundWeight(value, step) * step - value) ** 2;
  return error;
}

function peakOf(values: Float32Array): number {
  return values.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0);
}

if (import.meta.main) {
  const [folder] = Deno.args;
  if (folder === undefined) {
    console.error("name the folder with the trained model");
    Deno.exit(1);
  }
  const read = async (name: string) => JSON.parse(await Deno.readTextFile(join(folder, name)));
  const pieces: string[] = await read("pieces.json");
  if (pieces.length !== SHAPE.vocabulary) throw new Error(`${pieces.length} word pieces`);
  await Deno.writeTextFile(new URL(PIECES, ROOT), pieces.join("\n"));
  await Deno.writeFile(new URL(WEIGHTS, ROOT), packModel(await readTensors(folder)));
  await Deno.writeTextFile(new URL(REFERENCE, ROOT), JSON.stringify(await read("reference.json")));
  const text = "A man is opening a door.";
  const [{ vector }] = (await loadSentenceModel()).encode([text]) as [EncodedText];
  await Deno.writeTextFile(new URL(VECTOR, ROOT), JSON.stringify({ text, vector: [...vector] }));
}
