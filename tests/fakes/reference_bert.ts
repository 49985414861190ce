import { POSITIONS } from "../../eval/assess/embeddings/bert/layout.ts";
import { dequantized } from "../../eval/assess/embeddings/bert/loader.ts";
import { type ModelSource, vocabularyOf } from "../../eval/assess/embeddings/bert/weight_piece.ts";
import { createWordPieces } from "../../eval/assess/embeddings/bert/word_pieces.ts";

/** Rows of numbers. */
export type Matrix = Float32Array[];

/**
 * A model as in the paper of BERT, in 32-bit floats and plain loops, from the published weights:
 * slow (10 ms per word). The encoder's vectors are compared with its.
 */
export async function createReferenceModel(source: ModelSource) {
  const { width, head: headWidth, layers, pooling } = source.shape;
  const { tensors, vocabulary } = await readTensors(source);
  const cut = createWordPieces(vocabulary, POSITIONS);
  const tensor = (name: string) => tensors.get(name)!;
  const row = (name: string, index: number) =>
    tensor(name).subarray(index * width, (index + 1) * width);

  function linear(x: Matrix, name: string): Matrix {
    const [weights, bias] = [tensor(`${name}.weight`), tensor(`${name}.bias`)];
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

  function normalize(x: Matrix, name: string): Matrix {
    const [gain, bias] = [tensor(`${name}.weight`), tensor(`${name}.bias`)];
    return x.map((values) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / width;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
      const size = Math.sqrt(variance + 1e-12);
      return values.map((value, i) => (value - mean) / size * gain[i]! + bias[i]!);
    });
  }

  function attend(x: Matrix, name: string): Matrix {
    const [queries, keys, values] = ["query", "key", "value"].map((part) =>
      linear(x, `${name}.self.${part}`)
    ) as [Matrix, Matrix, Matrix];
    return attendTo(queries, keys, values);
  }

  function attendTo(queries: Matrix, keys: Matrix, values: Matrix): Matrix {
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

  /** The rest of a layer, after its attention. */
  function feedForward(
    x: Matrix,
    attended: Matrix,
    { norm1, up, down, norm2 }: { norm1: string; up: string; down: string; norm2: string },
  ): Matrix {
    const seen = normalize(add(x, attended), norm1);
    const inner = linear(seen, up).map((values) => values.map(gelu));
    return normalize(add(seen, linear(inner, down)), norm2);
  }

  /** A text's unit vector, and the states before the first layer and after each. */
  function encode(text: string): { vector: Float32Array; states: Matrix[] } {
    let x: Matrix = cut(text).map((id, position) => {
      const place = row("embeddings.position_embeddings.weight", position);
      const kind = row("embeddings.token_type_embeddings.weight", 0);
      return row("embeddings.word_embeddings.weight", id).map((v, i) => v + place[i]! + kind[i]!);
    });
    x = normalize(x, "embeddings.LayerNorm");
    const states = [x];
    for (let layer = 0; layer < layers; layer++) {
      const name = `encoder.layer.${layer}`;
      const attended = linear(attend(x, `${name}.attention`), `${name}.attention.output.dense`);
      x = feedForward(x, attended, {
        norm1: `${name}.attention.output.LayerNorm`,
        up: `${name}.intermediate.dense`,
        down: `${name}.output.dense`,
        norm2: `${name}.output.LayerNorm`,
      });
      states.push(x);
    }
    const pooled = pooling === "mean" ? x : x.slice(0, 1);
    const sum = pooled.reduce((total, values) => total.map((value, i) => value + values[i]!));
    const size = Math.hypot(...sum);
    return { vector: sum.map((value) => value / size), states };
  }

  return { encode, tensors, tensor, linear, feedForward, attendTo };
}

function add(left: Matrix, right: Matrix): Matrix {
  return left.map((values, row) => values.map((value, i) => value + right[row]![i]!));
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

/** Every tensor of the published model, as 32-bit floats. */
async function readTensors(source: ModelSource) {
  const parts = new Map<string, Float32Array[]>();
  let vocabulary: string[] = [];
  for await (const piece of source.read()) {
    vocabulary = vocabularyOf(piece) ?? vocabulary;
    if (piece.kind !== "tensor" && piece.kind !== "quantized") continue;
    const values = new Float32Array(piece.values.length);
    if (piece.kind === "tensor") values.set(piece.values);
    else dequantized(piece).copy(values, 0);
    parts.set(piece.name, [...(parts.get(piece.name) ?? []), values]);
  }
  const tensors = new Map<string, Float32Array>();
  for (const [name, list] of parts) {
    const whole = new Float32Array(list.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of list) {
      whole.set(part, at);
      at += part.length;
    }
    tensors.set(name, whole);
  }
  return { tensors, vocabulary };
}
