import type { Address, Kernel } from "./kernel.ts";
import { GROUP, type Layout, type Linear, type Norm, POSITIONS, WIDTH } from "./layout.ts";
import type { WeightPiece } from "./weights.ts";

/** Puts 16-bit values where the kernel wants them; `row` counts the rows before them. */
type Place = (values: Float16Array, row: number) => void;

/** Converts the pieces of the model and puts them into the kernel's memory. */
export function createLoader(
  { kernel, memory, at }: { kernel: Kernel; memory: ArrayBuffer; at: Layout },
): (piece: WeightPiece) => void {
  const places = new Map<string, Place>();

  const floatsTo = (to: Address): Place => (values) => {
    new Float32Array(memory, to, values.length).set(values);
  };
  /** As floats in the room to work in, which is free while the weights are loaded. */
  function stage(values: Float16Array): Address {
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
        kernel.packWeights(
          stage(values),
          weights + first * inputs,
          factors + first * inputs / GROUP * 4,
          scales + first * 4,
          count,
          inputs,
        );
      });
    }
  }

  places.set("embeddings.word_embeddings.weight", (values, row) => {
    const [to, scales] = [at.words + row * WIDTH, at.wordScales + row * 4];
    kernel.packRows(stage(values), to, scales, values.length / WIDTH, WIDTH);
  });
  const positions = new Float32Array(memory, at.positions, POSITIONS * WIDTH);
  places.set("embeddings.position_embeddings.weight", (values) => {
    for (let i = 0; i < positions.length; i++) positions[i]! += values[i]!;
  });
  // There is one sentence a text, so that the first kind of sentence is always the one.
  places.set("embeddings.token_type_embeddings.weight", (values) => {
    for (let i = 0; i < positions.length; i++) positions[i]! += values[i % WIDTH]!;
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
    if (piece.kind === "image") new Uint8Array(memory).set(piece.bytes, piece.at);
  };
}
