import { groupRows, type Layers, padRows, type Span } from "./layers.ts";
import { type Layout, OUTPUTS, SHAPE } from "./layout.ts";

/** The states of two texts, `width` numbers a word piece, and the cosine of their vectors. */
export interface EncodedPair {
  reference: Float16Array;
  reply: Float16Array;
  cosine: number;
}

/** Probabilities that a text follows from another one, is neutral to it, or contradicts it. */
export type Direction = [entails: number, neutral: number, contradicts: number];

export interface Comparison {
  /** The reply, given the reference. */
  reply: Direction;
  /** The reference, given the reply. */
  reference: Direction;
  /** In [0, 1], on the scale on which people grade similarity. */
  similarity: number;
}

/**
 * The layers that compare two texts. They are like those of the encoder, but each text attends only
 * to the other one. One pass has the texts of several pairs, each reference before its reply.
 */
export function createComparing(
  { layers, memory, at }: { layers: Layers; memory: ArrayBufferLike; at: Layout["comparing"] },
): (pairs: EncodedPair[]) => Comparison[] {
  const { width } = SHAPE;
  const { x } = layers;
  const segments = new Float32Array(memory, at.segments, 2 * width);
  const weights = new Float32Array(memory, at.out, OUTPUTS * 4 * width);
  const bias = new Float32Array(memory, at.outBias, OUTPUTS);
  const cosineLine = new Float32Array(memory, at.cosine, 2);

  /** Writes a text's states to the rows from `start` on, plus the embedding of its segment. */
  function place(states: Float16Array, start: number, segment: 0 | 1): Span {
    const to = start * width;
    for (let i = 0; i < states.length; i++) {
      x[to + i] = states[i]! + segments[segment * width + i % width]!;
    }
    return { start, length: states.length / width };
  }

  function pass(pairs: EncodedPair[]): Comparison[] {
    let end = 0;
    const spans = pairs.map(({ reference, reply }) => {
      const first = place(reference, end, 0);
      const second = place(reply, end + first.length, 1);
      end = second.start + second.length;
      return [first, second] as const;
    });
    const rows = padRows(end);
    x.fill(0, end * width, rows * width);
    for (const layer of at.layers) {
      layers.run(layer, rows, () => {
        for (const [reference, reply] of spans) {
          layers.attend(reference, reply);
          layers.attend(reply, reference);
        }
      });
    }
    return spans.map((span, index) => conclude(span, pairs[index]!.cosine));
  }

  /** Uses the first row and the mean of the rows of each text. */
  function conclude(span: readonly [Span, Span], cosine: number): Comparison {
    const means = span.map((rows) => layers.sum(rows).map((value) => value / rows.length));
    const firsts = span.map((rows) => layers.sum({ ...rows, length: 1 }));
    const features = [...firsts, ...means];
    const outputs = Array.from({ length: OUTPUTS }, (_, output) => {
      let sum = bias[output]!;
      for (const [part, values] of features.entries()) {
        const from = (output * 4 + part) * width;
        for (let i = 0; i < width; i++) sum += weights[from + i]! * values[i]!;
      }
      return sum;
    });
    const graded = outputs[6]! + cosineLine[0]! * cosine + cosineLine[1]!;
    return {
      reply: softmax(outputs.slice(0, 3)),
      reference: softmax(outputs.slice(3, 6)),
      similarity: 1 / (1 + Math.exp(-graded)),
    };
  }

  const rowsOf = ({ reference, reply }: EncodedPair) => (reference.length + reply.length) / width;
  return (pairs) => groupRows(pairs, rowsOf).flatMap(pass);
}

function softmax(values: number[]): Direction {
  const top = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - top));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total) as Direction;
}
