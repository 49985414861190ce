import type { Address, Kernel } from "./kernel.ts";
import { type Layout, type Linear, type Norm, POSITIONS, ROWS } from "./layout.ts";
import type { QuantizedPiece, WeightPiece } from "./weight_piece.ts";

type Values = Float16Array | Float32Array;
/** Puts values where the kernel wants them; `row` counts the rows before them. */
type Place = (values: Values, row: number) => void;

/** Converts the pieces of the model and puts them into the kernel's memory. */
export function createLoader(
  { kernel, memory, at, width }: {
    kernel: Kernel;
    memory: ArrayBuffer;
    at: Layout;
    width: number;
  },
): (piece: WeightPiece) => void {
  const places = new Map<string, Place>();

  const floatsTo = (to: Address): Place => (values) => {
    new Float32Array(memory, to, values.length).set(values);
  };
  /** As floats in the room to work in, which is free while the weights are loaded. */
  function stage(values: Values): Address {
    floatsTo(at.x)(values, 0);
    return at.x;
  }

  function placeNorm(name: string, { gain, bias }: Norm): void {
    places.set(`${name}.weight`, floatsTo(gain));
    places.set(`${name}.bias`, floatsTo(bias));
  }

  /** `parts` of one matrix, one below the other. */
  function placeLinear(parts: string[], linear: Linear): void {
    const { outputs, inputs, weights, factors, scales, bias } = linear;
    for (const [index, name] of parts.entries()) {
      const count = outputs / parts.length;
      const first = index * count;
      places.set(`${name}.bias`, floatsTo(bias + first * 4));
      places.set(`${name}.weight`, (values) => {
        for (let row = 0; row < count; row += ROWS) { // as many as there is room for
          const some = values.subarray(row * inputs, (row + ROWS) * inputs);
          const rows = some.length / inputs;
          kernel.packWeights(stage(some), weights, factors, scales, first + row, rows, inputs);
        }
      });
    }
  }

  places.set("embeddings.word_embeddings.weight", (values, row) => {
    const [to, scales] = [at.words + row * width, at.wordScales + row * 4];
    kernel.packRows(stage(values), to, scales, values.length / width, width);
  });
  const positions = new Float32Array(memory, at.positions, POSITIONS * width);
  places.set("embeddings.position_embeddings.weight", (values) => {
    for (let i = 0; i < positions.length; i++) positions[i]! += values[i]!;
  });
  // There is one sentence a text, so that the first kind of sentence is always the one.
  places.set("embeddings.token_type_embeddings.weight", (values) => {
    for (let i = 0; i < positions.length; i++) positions[i]! += values[i % width]!;
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

  return (piece) => {
    if (piece.kind === "tensor") places.get(piece.name)?.(piece.values, piece.row);
    if (piece.kind === "quantized") places.get(piece.name)?.(toFloats(piece), piece.row);
    if (piece.kind === "image") new Uint8Array(memory).set(piece.bytes, piece.at);
  };
}

/** The values of a table as they lie, those of a matrix as [outputs][inputs]. */
export function toFloats({ values, zero, scales }: QuantizedPiece): Float32Array {
  const outputs = scales.length;
  const inputs = values.length / outputs;
  const floats = new Float32Array(values.length);
  for (let output = 0; output < outputs; output++) {
    const [to, scale] = [output * inputs, scales[output]!];
    for (let input = 0; input < inputs; input++) {
      floats[to + input] = scale * (values[input * outputs + output]! - zero);
    }
  }
  return floats;
}
