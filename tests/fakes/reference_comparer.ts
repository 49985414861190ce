import type { Comparison, Direction } from "../../eval/assess/embeddings/bert/comparing.ts";
import { COMPARED_AFTER } from "../../eval/assess/embeddings/bert/layout.ts";
import { MINILM } from "../../eval/assess/embeddings/bert/minilm.ts";
import { product } from "../../eval/assess/vectors.ts";
import { createReferenceModel, type Matrix } from "./reference_bert.ts";

/** The layers that compare two texts, in floats and plain loops; a reference for the kernel. */
export async function createReferenceComparer(): Promise<
  (reference: string, reply: string) => Comparison
> {
  const { encode, tensors, tensor, linear, feedForward, attendTo } = await createReferenceModel(
    MINILM,
  );
  const { width } = MINILM.shape;
  roundAsTheKernel(tensors, width);

  function begin(text: string, segment: number) {
    const { vector, states } = encode(text);
    const added = tensor("agreement.segment").subarray(segment * width, (segment + 1) * width);
    return { vector, x: states[COMPARED_AFTER]!.map((row) => row.map((v, i) => v + added[i]!)) };
  }

  function step(own: Matrix, other: Matrix, name: string): Matrix {
    const split = (x: Matrix) => {
      const rows = linear(x, `${name}.qkv`);
      return [0, 1, 2].map((part) =>
        rows.map((row) => row.slice(part * width, (part + 1) * width))
      );
    };
    const [queries] = split(own);
    const [, keys, values] = split(other);
    const seen = linear(attendTo(queries!, keys!, values!), `${name}.attended`);
    return feedForward(own, seen, {
      norm1: `${name}.norm1`,
      up: `${name}.up`,
      down: `${name}.down`,
      norm2: `${name}.norm2`,
    });
  }

  return (reference, reply) => {
    const [a, b] = [begin(reference, 0), begin(reply, 1)];
    let [x, y]: [Matrix, Matrix] = [a.x, b.x];
    for (const layer of [0, 1]) {
      const name = `agreement.layers.${layer}`;
      [x, y] = [step(x, y, name), step(y, x, name)];
    }
    const features = Float32Array.from([...x[0]!, ...y[0]!, ...mean(x), ...mean(y)]);
    const [o] = linear([features], "agreement.out");
    const [factor, summand] = tensor("agreement.cos");
    const graded = o![6]! + factor! * product(a.vector, b.vector) + summand!;
    return {
      reply: softmax(o!.subarray(0, 3)),
      reference: softmax(o!.subarray(3, 6)),
      similarity: 1 / (1 + Math.exp(-graded)),
    };
  };
}

/**
 * The encoder's weights with the bits that the kernel has of them: 7 of a matrix, with a scale for 128
 * inputs of an output, and 8 of a row of the word table.
 */
function roundAsTheKernel(tensors: Map<string, Float32Array>, width: number): void {
  const largest = (values: Float32Array) => {
    let most = 0;
    for (const value of values) most = Math.max(most, Math.abs(value));
    return most;
  };
  const round = (values: Float32Array, scale: number) => {
    for (let i = 0; i < values.length; i++) values[i] = Math.round(values[i]! / scale) * scale;
  };
  const words = tensors.get("embeddings.word_embeddings.weight")!;
  for (let at = 0; at < words.length; at += width) {
    const row = words.subarray(at, at + width);
    round(row, largest(row) / 127);
  }
  for (const [name, weights] of tensors) {
    if (!name.startsWith("encoder") || !name.endsWith(".weight")) continue;
    const inputs = weights.length / tensors.get(name.replace("weight", "bias"))!.length;
    for (let at = 0; inputs > 1 && at < weights.length; at += inputs) {
      const unit = largest(weights.subarray(at, at + inputs)) / 16;
      for (let group = at; group < at + inputs; group += 128) {
        const values = weights.subarray(group, group + 128);
        round(values, unit * Math.max(1, Math.ceil(largest(values) / unit)) / 63);
      }
    }
  }
}

function mean(x: Matrix): Float32Array {
  const sum = x.reduce((total, row) => total.map((value, i) => value + row[i]!));
  return sum.map((value) => value / x.length);
}

function softmax(values: Float32Array): Direction {
  const powers = [...values].map(Math.exp);
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total) as Direction;
}
