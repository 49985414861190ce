import type { Kernel } from "./kernel.ts";
import {
  type Address,
  type Layout,
  type Linear,
  MODEL_START,
  type Norm,
  POSITIONS,
  ROWS,
} from "./layout.ts";
import type { QuantizedPiece, WeightPiece } from "./weight_piece.ts";

/** The values of a piece; a matrix is [outputs][inputs]. */
interface Values {
  length: number;
  /** Fills `to` with those from `from` on. */
  copy(to: Float32Array, from: number): void;
}

/** Writes values in the layout of the kernel; `row` is the number of rows before them. */
type Place = (values: Values, row: number) => void;

/** Converts the pieces of a model and writes them into the kernel's memory. */
export function createLoader(
  { kernel, memory, at, width }: {
    kernel: Kernel;
    memory: ArrayBufferLike;
    at: Layout;
    width: number;
  },
): (piece: WeightPiece) => void {
  const places = new Map<string, Place>();

  const floatsTo = (to: Address): Place => (values) => {
    values.copy(new Float32Array(memory, to, values.length), 0);
  };
  /** Copies values as floats into the workspace, which is free while the weights are loaded. */
  function stage(values: Values, from = 0, count = values.length): Float32Array {
    const room = new Float32Array(memory, at.x, count);
    values.copy(room, from);
    return room;
  }

  /** 16-bit floats are converted by the kernel, at the end of the workspace. */
  const floats = (values: Float16Array | Float32Array): Values => ({
    length: values.length,
    copy(to, from) {
      const some = values.subarray(from, from + to.length);
      if (some instanceof Float32Array) return to.set(some);
      const halves = new Float16Array(memory, at.end - some.byteLength, some.length);
      halves.set(some);
      kernel.widen(halves.byteOffset, to.byteOffset, to.length);
    },
  });

  function placeNorm(name: string, { gain, bias }: Norm): void {
    places.set(`${name}.weight`, floatsTo(gain));
    places.set(`${name}.bias`, floatsTo(bias));
  }

  /** `parts` of one matrix are stacked. */
  function placeLinear(parts: string[], linear: Linear): void {
    const { outputs, inputs, weights, factors, scales, bias } = linear;
    for (const [index, name] of parts.entries()) {
      const count = outputs / parts.length;
      const first = index * count;
      places.set(`${name}.bias`, floatsTo(bias + first * 4));
      places.set(`${name}.weight`, (values) => {
        for (let row = 0; row < count; row += ROWS) { // as many as fit into the workspace
          const rows = Math.min(ROWS, count - row);
          const { byteOffset: from } = stage(values, row * inputs, rows * inputs);
          kernel.packWeights(from, weights, factors, scales, first + row, rows, inputs);
        }
      });
    }
  }

  places.set("embeddings.word_embeddings.weight", (values, row) => {
    const [to, scales] = [at.words + row * width, at.wordScales + row * 4];
    kernel.packRows(stage(values).byteOffset, to, scales, values.length / width, width);
  });
  const positions = new Float32Array(memory, at.positions, POSITIONS * width);
  places.set("embeddings.position_embeddings.weight", (values) => {
    const staged = stage(values);
    for (let i = 0; i < positions.length; i++) positions[i]! += staged[i]!;
  });
  // Each text is one sentence, so only the first token type is used.
  places.set("embeddings.token_type_embeddings.weight", (values) => {
    const staged = stage(values);
    for (let i = 0; i < positions.length; i++) positions[i]! += staged[i % width]!;
  });
  placeNorm("embeddings.LayerNorm", at.first);
  for (const [index, layer] of at.layers.entries()) {
    const name = `encoder.layer.${index}`;
    const attention = `${name}.attention.self`;
    placeLinear(["query", "key", "value"].map((part) => `${attention}.${part}`), layer.qkv);
    placeLinear([`${name}.attention.output.dense`], layer.attended);
    placeNorm(`${name}.attention.output.LayerNorm`, layer.afterAttention);
    placeLinear([`${name}.intermediate.dense`], layer.up);
    placeLinear([`${name}.output.dense`], layer.down);
    placeNorm(`${name}.output.LayerNorm`, layer.afterFeedForward);
  }
  if (at.comparing) {
    const { segments, layers, out, outBias, cosine } = at.comparing;
    places.set("agreement.segment", floatsTo(segments));
    for (const [index, layer] of layers.entries()) {
      const name = `agreement.layers.${index}`;
      placeLinear([`${name}.qkv`], layer.qkv);
      placeLinear([`${name}.attended`], layer.attended);
      placeNorm(`${name}.norm1`, layer.afterAttention);
      placeLinear([`${name}.up`], layer.up);
      placeLinear([`${name}.down`], layer.down);
      placeNorm(`${name}.norm2`, layer.afterFeedForward);
    }
    places.set("agreement.out.weight", floatsTo(out));
    places.set("agreement.out.bias", floatsTo(outBias));
    places.set("agreement.cos", floatsTo(cosine));
  }

  return (piece) => {
    if (piece.kind === "tensor") places.get(piece.name)?.(floats(piece.values), piece.row);
    if (piece.kind === "quantized") places.get(piece.name)?.(dequantized(piece), piece.row);
    if (piece.kind === "image") new Uint8Array(memory, MODEL_START).set(piece.bytes, piece.at);
  };
}

/** A table keeps its layout; a matrix is transposed. */
export function dequantized({ values, zero, scales }: QuantizedPiece): Values {
  const outputs = scales.length;
  const inputs = values.length / outputs;
  return {
    length: values.length,
    copy(to, from) {
      for (let at = 0, output = from / inputs; at < to.length; output++) {
        const scale = scales[output]!;
        for (let input = 0; input < inputs; input++) {
          to[at++] = scale * (values[input * outputs + output]! - zero);
        }
      }
    },
  };
}
