import type { Address } from "./kernel.ts";

export const LAYERS = 6;
export const WIDTH = 384;
export const INNER = 1536;
/** The width of an attention head. */
export const HEAD = 32;
/** Inputs whose weights share a scale, as in `kernel.as`. */
export const GROUP = 128;
export const VOCABULARY = 30_522;
/** Word pieces that the model was trained to read. */
export const POSITIONS = 256;
/** Word pieces in one pass: a whole text at least. More would not stay in the processor's cache. */
export const ROWS = 256;

/** A matrix of quantised weights [outputs][inputs], a scale and a bias an output. */
export interface Linear {
  outputs: number;
  inputs: number;
  weights: Address;
  /** A whole number an output and group of inputs. */
  factors: Address;
  scales: Address;
  bias: Address;
}

export interface Norm {
  gain: Address;
  bias: Address;
}

/** Where everything lies in the kernel's memory: the model first, then room to work in. */
export function layOut() {
  let end = 1024;
  const take = (bytes: number): Address => {
    const start = end;
    end = Math.ceil((end + bytes) / 64) * 64;
    return start;
  };
  const linear = (outputs: number, inputs: number): Linear => ({
    outputs,
    inputs,
    weights: take(outputs * inputs),
    factors: take(outputs * inputs / GROUP * 4),
    scales: take(outputs * 4),
    bias: take(outputs * 4),
  });
  const norm = (): Norm => ({ gain: take(WIDTH * 4), bias: take(WIDTH * 4) });
  const model = {
    words: take(VOCABULARY * WIDTH),
    wordScales: take(VOCABULARY * 4),
    positions: take(POSITIONS * WIDTH * 4),
    first: norm(),
    layers: Array.from({ length: LAYERS }, () => ({
      qkv: linear(3 * WIDTH, WIDTH),
      attended: linear(WIDTH, WIDTH),
      afterAttention: norm(),
      up: linear(INNER, WIDTH),
      down: linear(WIDTH, INNER),
      afterFeedForward: norm(),
    })),
  };
  const modelEnd = end;
  const work = {
    x: take(ROWS * WIDTH * 4),
    y: take(ROWS * WIDTH * 4),
    wide: take((ROWS + 3) * INNER * 4), // attention reads up to three rows past the end
    bytes: take(ROWS * INNER),
    scales: take(ROWS * 4),
    offsets: take(ROWS * INNER / GROUP * 4),
    apart: take(ROWS * 8),
    scratch: take(((2 * HEAD + 4) * ROWS + 4 * HEAD) * 4),
  };
  return { ...model, modelEnd, ...work, end };
}

export type Layout = ReturnType<typeof layOut>;
