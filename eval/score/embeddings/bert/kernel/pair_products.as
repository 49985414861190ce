/**
 * The functions of `products.as` for processors with 16 registers and no instruction for `dot`: 8
 * sums of four at a time, so that all stay in registers. Products are added in two steps, because
 * the engine would create the ones of the second step again for each `dot`.
 */
import { addApart, finish, GROUP, PANEL, scaled } from "./linear";
import { lane0, lane1, lane2, lane3 } from "./numbers";

/** Loaded from memory: a constant in the code would be created each time. */
const ONES = memory.data<i16>([1, 1, 1, 1, 1, 1, 1, 1]);

/** `dot` of `numbers.as`. */
@inline
function dotBy(ones: v128, a: v128, w: v128, sum: v128): v128 {
  return i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.relaxed_dot_i8x16_i7x16_s(a, w), ones));
}

@inline
function storeRow(to: usize, x: v128, y: v128, z: v128, w: v128): void {
  v128.store(to, x); v128.store(to, y, 16); v128.store(to, z, 32); v128.store(to, w, 48);
}

/** Two of the rows of `multiplyTile`; `plane` is the distance between the halves of their bits. */
@inline
function multiplyTwo(rows: usize, columns: usize, to: usize, line: usize, plane: usize): void {
  const ones = v128.load(ONES), zero = i32x4.splat(0);
  let x0 = zero, y0 = zero, z0 = zero, w0 = zero, x1 = zero, y1 = zero, z1 = zero, w1 = zero;
  for (let half = 0; half < 2; half++) {
    x0 = i32x4.shl(x0, 7); y0 = i32x4.shl(y0, 7); z0 = i32x4.shl(z0, 7); w0 = i32x4.shl(w0, 7);
    x1 = i32x4.shl(x1, 7); y1 = i32x4.shl(y1, 7); z1 = i32x4.shl(z1, 7); w1 = i32x4.shl(w1, 7);
    let c = columns;
    for (const end = rows + plane; rows < end; rows += 16, c += 64) {
      const s = v128.load(c), t = v128.load(c, 16), u = v128.load(c, 32), v = v128.load(c, 48);
      let k = v128.load32_splat(rows);
      x0 = dotBy(ones, s, k, x0); y0 = dotBy(ones, t, k, y0);
      z0 = dotBy(ones, u, k, z0); w0 = dotBy(ones, v, k, w0);
      k = v128.load32_splat(rows, 4);
      x1 = dotBy(ones, s, k, x1); y1 = dotBy(ones, t, k, y1);
      z1 = dotBy(ones, u, k, z1); w1 = dotBy(ones, v, k, w1);
    }
  }
  storeRow(to, x0, y0, z0, w0);
  storeRow(to + line, x1, y1, z1, w1);
}

@inline
export function multiplyTile(
  rows: usize, columns: usize, to: usize, line: usize, depth: usize,
): void {
  multiplyTwo(rows, columns, to, line, depth << 2);
  multiplyTwo(rows + 8, columns, to + 2 * line, line, depth << 2);
}

/** Eight outputs of one row. */
@inline
function finishHalf(
  to: usize, x: v128, y: v128, scale: v128, wScales: usize, bias: usize,
): void {
  finish(to, x, scale, wScales, bias);
  finish(to + 16, y, scale, wScales + 16, bias + 16);
}

/**
 * 4 rows times 8 outputs: of all shapes with 8 sums this one loads the least, and the engine checks
 * the address of every load. `p` and `g` have the activations and offsets of the rows.
 */
@inline
function multiplyHalf(
  p: usize, g: usize, w: usize, f: usize, inputs: usize, to: usize, line: usize, scales: usize,
  wScales: usize, bias: usize,
): void {
  const ones = v128.load(ONES), zero = i32x4.splat(0);
  let sx0 = zero, sy0 = zero, sx1 = zero, sy1 = zero;
  let sx2 = zero, sy2 = zero, sx3 = zero, sy3 = zero;
  for (const end = p + (inputs << 2); p < end; g += 16, f += 4 * PANEL) {
    let q = v128.load(g);
    let x0 = lane0(q), y0 = x0, x1 = lane1(q), y1 = x1;
    let x2 = lane2(q), y2 = x2, x3 = lane3(q), y3 = x3;
    for (const e = p + 4 * GROUP; p < e; p += 32, w += 8 * PANEL) {
      // One step, written twice: 4 inputs of 4 rows times 8 outputs.
      q = v128.load(p);
      let s = v128.load(w), t = v128.load(w, 16);
      let k = lane0(q);
      x0 = dotBy(ones, k, s, x0); y0 = dotBy(ones, k, t, y0);
      k = lane1(q);
      x1 = dotBy(ones, k, s, x1); y1 = dotBy(ones, k, t, y1);
      k = lane2(q);
      x2 = dotBy(ones, k, s, x2); y2 = dotBy(ones, k, t, y2);
      k = lane3(q);
      x3 = dotBy(ones, k, s, x3); y3 = dotBy(ones, k, t, y3);
      q = v128.load(p, 16);
      s = v128.load(w, 64); t = v128.load(w, 80);
      k = lane0(q);
      x0 = dotBy(ones, k, s, x0); y0 = dotBy(ones, k, t, y0);
      k = lane1(q);
      x1 = dotBy(ones, k, s, x1); y1 = dotBy(ones, k, t, y1);
      k = lane2(q);
      x2 = dotBy(ones, k, s, x2); y2 = dotBy(ones, k, t, y2);
      k = lane3(q);
      x3 = dotBy(ones, k, s, x3); y3 = dotBy(ones, k, t, y3);
    }
    const f0 = v128.load(f), f1 = v128.load(f, 16);
    sx0 = scaled(x0, f0, sx0); sy0 = scaled(y0, f1, sy0);
    sx1 = scaled(x1, f0, sx1); sy1 = scaled(y1, f1, sy1);
    sx2 = scaled(x2, f0, sx2); sy2 = scaled(y2, f1, sy2);
    sx3 = scaled(x3, f0, sx3); sy3 = scaled(y3, f1, sy3);
  }
  const q = v128.load(scales);
  finishHalf(to, sx0, sy0, lane0(q), wScales, bias);
  finishHalf(to + line, sx1, sy1, lane1(q), wScales, bias);
  finishHalf(to + 2 * line, sx2, sy2, lane2(q), wScales, bias);
  finishHalf(to + 3 * line, sx3, sy3, lane3(q), wScales, bias);
}

export function multiply(
  a: usize, scales: usize, offsets: usize, apart: usize, weights: usize, factors: usize,
  wScales: usize, bias: usize, to: usize, rows: usize, outputs: usize, inputs: usize,
): void {
  const line = outputs << 2, groups = inputs / GROUP << 2;
  let w = weights, f = factors;
  for (let n: usize = 0; n < line; n += 4 * PANEL) {
    for (let half: usize = 0; half < 4 * PANEL; half += 2 * PANEL) {
      const o = n + half;
      for (let m: usize = 0; m < rows; m += 4) {
        multiplyHalf(
          a + m * inputs, offsets + m * groups, w + half, f + half, inputs, to + m * line + o, line,
          scales + (m << 2), wScales + o, bias + o,
        );
      }
    }
    w += PANEL * inputs;
    f += groups << 4;
  }
  for (let r: usize = 0; r < rows; r++) {
    addApart(apart + (r << 3), weights, factors, wScales, to + r * line, outputs, inputs);
  }
}
