import type { Comparison, Direction } from "../../eval/score/embeddings/bert/comparing.ts";
import {
  COMPARED_AFTER,
  createMemory,
  GROUP,
  type Layer,
  layOut,
  type Linear,
  type Norm,
  PANEL,
  SHAPE,
  WEIGHT_OFFSET,
} from "../../eval/score/embeddings/bert/layout.ts";
import { readVocabulary, readWeights } from "../../eval/score/embeddings/bert/weights.ts";
import { createWordPieces } from "../../eval/score/embeddings/bert/word_pieces.ts";
import { product, toUnit } from "../../eval/score/vectors.ts";

/** Rows of numbers. */
type Matrix = Float32Array[];

/**
 * The model as in papers, in 32-bit floats and plain loops, with the weights of the file: slow (10
 * ms per word). What the kernel gives is compared with it.
 */
export async function createReferenceModel() {
  const { width, head: headWidth, narrow } = SHAPE;
  const memory = createMemory().buffer;
  const [vocabulary] = await Promise.all([readVocabulary(), readWeights(memory)]);
  const cut = createWordPieces(vocabulary.split("\n"));
  const at = layOut();
  const floats = (from: number, length: number) => new Float32Array(memory, from, length);
  const unpacked = new Map<Linear, Float32Array>();

  function weightsOf(linear: Linear): Float32Array {
    const { outputs, inputs } = linear;
    const bytes = new Uint8Array(memory, linear.weights);
    const factors = new Int32Array(memory, linear.factors);
    const scales = floats(linear.scales, outputs);
    const groups = inputs / GROUP;
    const weights = new Float32Array(outputs * inputs);
    for (let output = 0; output < outputs; output++) {
      const [lane, panel] = [output % PANEL, output - output % PANEL];
      for (let input = 0; input < inputs; input++) {
        const place = panel * inputs + (input >> 2) * 4 * PANEL + lane * 4 + input % 4;
        const factor = factors[panel * groups + Math.floor(input / GROUP) * PANEL + lane]!;
        weights[output * inputs + input] = (bytes[place]! - WEIGHT_OFFSET) * factor *
          scales[output]!;
      }
    }
    return weights;
  }

  function apply(x: Matrix, linear: Linear): Matrix {
    return multiply(x, {
      weights: unpacked.getOrInsertComputed(linear, weightsOf),
      bias: floats(linear.bias, linear.outputs),
    });
  }

  function normalize(x: Matrix, norm: Norm): Matrix {
    const [gain, bias] = [floats(norm.gain, width), floats(norm.bias, width)];
    return x.map((values) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / width;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
      const size = Math.sqrt(variance + 1e-12);
      return values.map((value, i) => (value - mean) / size * gain[i]! + bias[i]!);
    });
  }

  function attend(queries: Matrix, keys: Matrix, values: Matrix): Matrix {
    return queries.map((query) => {
      const output = new Float32Array(width);
      for (let head = 0; head < width; head += headWidth) {
        const scores = keys.map((key) => {
          let score = 0;
          for (let i = head; i < head + headWidth; i++) score += query[i]! * key[i]!;
          return Math.exp(score / Math.sqrt(headWidth));
        });
        const total = scores.reduce((sum, score) => sum + score, 0);
        for (const [j, score] of scores.entries()) {
          for (let i = head; i < head + headWidth; i++) {
            output[i]! += score / total * values[j]![i]!;
          }
        }
      }
      return output;
    });
  }

  /** A layer; the rows attend to those of `other`. */
  function step(own: Matrix, other: Matrix, layer: Layer): Matrix {
    const part = (x: Matrix, index: number) =>
      apply(x, layer.qkv).map((row) => row.slice(index * width, (index + 1) * width));
    const seen = apply(attend(part(own, 0), part(other, 1), part(other, 2)), layer.attended);
    const x = normalize(add(own, seen), layer.afterAttention);
    const inner = apply(x, layer.up).map((values) => values.map(gelu));
    return normalize(add(x, apply(inner, layer.down)), layer.afterFeedForward);
  }

  /** A text's unit vector, and the states that are compared. */
  function encode(text: string): { vector: Float32Array; states: Matrix } {
    const words = new Int8Array(memory, at.words);
    const scales = floats(at.wordScales, SHAPE.vocabulary);
    const rows = cut(text).map((id) =>
      Float32Array.from(words.subarray(id * narrow, (id + 1) * narrow), (v) => v * scales[id]!)
    );
    const places = rows.map((_, row) => floats(at.positions + row * width * 4, width));
    let x = normalize(add(apply(rows, at.wide), places), at.first);
    let states = x;
    for (const [index, layer] of at.layers.entries()) {
      x = step(x, x, layer);
      if (index + 1 === COMPARED_AFTER) states = x;
    }
    return { vector: toUnit(mean(x)), states };
  }

  function compare(reference: string, reply: string): Comparison {
    const { segments, layers, out, outBias, cosine } = at.comparing;
    const [left, right] = [encode(reference), encode(reply)];
    let [x, y] = [left, right].map(({ states }, side) =>
      add(states, states.map(() => floats(segments + side * width * 4, width)))
    ) as [Matrix, Matrix];
    for (const layer of layers) [x, y] = [step(x, y, layer), step(y, x, layer)];
    const features = Float32Array.from([...x[0]!, ...y[0]!, ...mean(x), ...mean(y)]);
    const [o] = multiply([features], {
      weights: floats(out, 7 * 4 * width),
      bias: floats(outBias, 7),
    });
    const [factor, summand] = floats(cosine, 2);
    const graded = o![6]! + factor! * product(left.vector, right.vector) + summand!;
    return {
      reply: softmax(o!.subarray(0, 3)),
      reference: softmax(o!.subarray(3, 6)),
      similarity: 1 / (1 + Math.exp(-graded)),
    };
  }

  return { encode, compare };
}

function multiply(
  x: Matrix,
  { weights, bias }: { weights: Float32Array; bias: Float32Array },
): Matrix {
  return x.map((input) => {
    const output = Float32Array.from(bias);
    for (let n = 0; n < bias.length; n++) {
      const start = n * input.length;
      let [a, b, c, d] = [0, 0, 0, 0]; // sums that do not wait for each other: half the time
      for (let k = 0; k < input.length; k += 4) {
        a += input[k]! * weights[start + k]!;
        b += input[k + 1]! * weights[start + k + 1]!;
        c += input[k + 2]! * weights[start + k + 2]!;
        d += input[k + 3]! * weights[start + k + 3]!;
      }
      output[n]! += a + b + c + d;
    }
    return output;
  });
}

function add(left: Matrix, right: Matrix): Matrix {
  return left.map((values, row) => values.map((value, i) => value + right[row]![i]!));
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

function gelu(x: number): number {
  return x * (1 + erf(x / Math.SQRT2)) / 2;
}

/** Abramowitz and Stegun 7.1.26, within 1.5e-7. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t +
    0.254829592) * t;
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}
