import type { Kernel } from "./kernel.ts";
import {
  type Address,
  type Layer,
  type Layout,
  type Linear,
  type Norm,
  ROWS,
  SHAPE,
} from "./layout.ts";

const EPSILON = 1e-12;

/** A text's rows in a pass. */
export interface Span {
  start: number;
  length: number;
}

/** The operations of a model's layers on the rows in its workspace. */
export interface Layers {
  /** The rows, `width` numbers each. The padding up to `padRows` must be 0. */
  readonly x: Float32Array;
  normalize(added: Address, norm: Norm, rows: number): void;
  /** Multiplies rows by a matrix. */
  apply(linear: Linear, from: Address, to: Address, rows: number): void;
  /** Applies a layer to `x`. `attendAll` calls `attend` for the texts, from the first row on. */
  run(layer: Layer, rows: number, attendAll: () => void): void;
  /** `rows` attend to the rows `seen`. Writes up to three rows past the end. */
  attend(rows: Span, seen: Span): void;
  sum(rows: Span): Float32Array;
}

/** The kernel multiplies four rows at a time. */
export function padRows(rows: number): number {
  return Math.ceil(rows / 4) * 4;
}

/** Groups items that fit into one pass; `rowsOf` is the number of rows of one. */
export function groupRows<Item>(items: Item[], rowsOf: (item: Item) => number): Item[][] {
  const groups: Item[][] = [];
  let room = 0;
  for (const item of items) {
    if (rowsOf(item) > room) {
      groups.push([]);
      room = ROWS;
    }
    groups.at(-1)!.push(item);
    room -= rowsOf(item);
  }
  return groups;
}

export function createLayers(
  { kernel, memory, at }: { kernel: Kernel; memory: ArrayBufferLike; at: Layout },
): Layers {
  const { width, inner, head } = SHAPE;
  const x = new Float32Array(memory, at.x, ROWS * width);

  function normalize(added: Address, { gain, bias }: Norm, rows: number): void {
    kernel.normalize(at.x, added, gain, bias, rows, width, EPSILON);
  }

  function apply(linear: Linear, from: Address, to: Address, rows: number): void {
    const { weights, factors, scales, bias, outputs, inputs } = linear;
    kernel.quantize(from, at.bytes, at.scales, at.offsets, at.apart, rows, inputs);
    kernel.multiply(
      at.bytes,
      at.scales,
      at.offsets,
      at.apart,
      weights,
      factors,
      scales,
      bias,
      to,
      rows,
      outputs,
      inputs,
    );
  }

  const qkvOf = ({ start }: Span) => at.wideRows + start * 3 * width * 4;

  return {
    x,
    normalize,
    apply,
    run(layer, rows, attendAll) {
      apply(layer.qkv, at.x, at.wideRows, rows);
      attendAll();
      apply(layer.attended, at.y, at.wideRows, rows);
      normalize(at.wideRows, layer.afterAttention, rows);
      apply(layer.up, at.x, at.wideRows, rows);
      kernel.gelu(at.wideRows, rows * inner);
      apply(layer.down, at.wideRows, at.y, rows);
      normalize(at.y, layer.afterFeedForward, rows);
    },
    attend(rows, seen) {
      kernel.attend(
        qkvOf(rows),
        rows.length,
        qkvOf(seen),
        seen.length,
        at.y + rows.start * width * 4,
        at.scratch,
        width,
        head,
        1 / Math.sqrt(head),
      );
    },
    sum({ start, length }) {
      const sum = new Float32Array(width);
      for (let row = start; row < start + length; row++) {
        for (let i = 0; i < width; i++) sum[i]! += x[row * width + i]!;
      }
      return sum;
    },
  };
}
