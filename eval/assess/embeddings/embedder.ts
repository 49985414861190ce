import type { Comparison } from "./bert/comparing.ts";

/** Turns texts into vectors whose cosine says how near the texts are in meaning. */
export interface Embedder extends Disposable {
  /** How the vectors are made, as answers name it. */
  readonly method: string;
  /** Whether it was trained on English alone, and misleads about everything else. */
  readonly isEnglishOnly: boolean;
  /** The one for Chinese and Japanese, if there is one beside an English one. */
  readonly cjk?: Embedder;
  /** Rejects if there are no vectors; the message says why. */
  embed(text: string): Promise<Float32Array>;
  /** Only of the English encoder inside. */
  readonly comparer?: TextComparer;
}

/** A part of a text that is compared as a whole. */
export interface TextWindow {
  /** Of length 1. */
  vector: Float32Array;
  states: Float16Array;
}

/** Says of two texts whether one follows from the other, or contradicts it. */
export interface TextComparer {
  /** The text in parts of some sentences, in order. */
  windows(text: string): Promise<TextWindow[]>;
  compare(reference: TextWindow, reply: TextWindow): Promise<Comparison>;
}

/** In [−1, 1]; 0 if a vector has length 0. */
export function cosine(left: Float32Array, right: Float32Array): number {
  let product = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  for (let i = 0; i < left.length; i++) {
    const [x, y] = [left[i]!, right[i] ?? 0];
    product += x * y;
    leftSquares += x * x;
    rightSquares += y * y;
  }
  const length = Math.sqrt(leftSquares * rightSquares);
  return length === 0 ? 0 : product / length;
}

/** The same direction, of length 1; a vector without length stays as it is. */
export function toUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(product(vector, vector));
  if (length === 0) return vector;
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < unit.length; i++) unit[i] = vector[i]! / length;
  return unit;
}

/** The sum of the directions of some vectors: each has the same weight. */
export function pool(vectors: Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const unit of vectors.map(toUnit)) {
    for (let i = 0; i < sum.length; i++) sum[i]! += unit[i]!;
  }
  return sum;
}

/** The inner product of two vectors of one length. */
export function product(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += left[i]! * right[i]!;
  return sum;
}

/**
 * The inner product of a vector with each of some others, four at a time: the processor adds to four
 * sums while it would wait for one. Every sum is the same as `product` gives.
 */
export function products(vector: Float32Array, others: readonly Float32Array[]): number[] {
  const found: number[] = [];
  let at = 0;
  for (; at + 4 <= others.length; at += 4) {
    const [a, b, c, d] = [others[at]!, others[at + 1]!, others[at + 2]!, others[at + 3]!];
    let [toA, toB, toC, toD] = [0, 0, 0, 0];
    for (let i = 0; i < vector.length; i++) {
      const value = vector[i]!;
      toA += value * a[i]!;
      toB += value * b[i]!;
      toC += value * c[i]!;
      toD += value * d[i]!;
    }
    found.push(toA, toB, toC, toD);
  }
  for (; at < others.length; at++) found.push(product(vector, others[at]!));
  return found;
}
