/**
 * The functions of `products.as` for processors of 16 registers without an instruction for `dot`:
 * 2 rows times 16 columns at a time, so that all sums stay in registers. Products are added in two
 * steps, because the engine would make the ones of the second step anew for each `dot`.
 */
import { addApart, finishRow, GROUP, PANEL, scaled } from "./linear";

/** Read from memory: a constant of the code would be made anew each time. */
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

/** Two of the rows of `multiplyTile`; from one half of their bits to the other is `plane`. */
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

/** Rows `m` and `m` + 1 times 16 outputs; `p` and `g` have their activations and offsets. */
@inline
function multiplyPanel(
  p: usize, g: usize, w: usize, f: usize, inputs: usize, to: usize, line: usize, scales: usize,
  wScales: usize, bias: usize, m: usize, n: usize,
): void {
  const ones = v128.load(ONES), zero = i32x4.splat(0);
  let sx0 = zero, sy0 = zero, sz0 = zero, sw0 = zero;
  let sx1 = zero, sy1 = zero, sz1 = zero, sw1 = zero;
  for (const end = p + (inputs << 2); p < end; g += 16, f += 4 * PANEL) {
    let x0 = v128.load32_splat(g), y0 = x0, z0 = x0, w0 = x0;
    let x1 = v128.load32_splat(g, 4), y1 = x1, z1 = x1, w1 = x1;
    for (const e = p + 4 * GROUP; p < e; p += 32, w += 128) {
      // One step, written twice: 4 inputs of 2 rows times 16 outputs.
      let s = v128.load(w), t = v128.load(w, 16), u = v128.load(w, 32), v = v128.load(w, 48);
      let k = v128.load32_splat(p);
      x0 = dotBy(ones, k, s, x0); y0 = dotBy(ones, k, t, y0);
      z0 = dotBy(ones, k, u, z0); w0 = dotBy(ones, k, v, w0);
      k = v128.load32_splat(p, 4);
      x1 = dotBy(ones, k, s, x1); y1 = dotBy(ones, k, t, y1);
      z1 = dotBy(ones, k, u, z1); w1 = dotBy(ones, k, v, w1);
      s = v128.load(w, 64); t = v128.load(w, 80); u = v128.load(w, 96); v = v128.load(w, 112);
      k = v128.load32_splat(p, 16);
      x0 = dotBy(ones, k, s, x0); y0 = dotBy(ones, k, t, y0);
      z0 = dotBy(ones, k, u, z0); w0 = dotBy(ones, k, v, w0);
      k = v128.load32_splat(p, 20);
      x1 = dotBy(ones, k, s, x1); y1 = dotBy(ones, k, t, y1);
      z1 = dotBy(ones, k, u, z1); w1 = dotBy(ones, k, v, w1);
    }
    const f0 = v128.load(f), f1 = v128.load(f, 16);
    const f2 = v128.load(f, 32), f3 = v128.load(f, 48);
    sx0 = scaled(x0, f0, sx0); sy0 = scaled(y0, f1, sy0);
    sz0 = scaled(z0, f2, sz0); sw0 = scaled(w0, f3, sw0);
    sx1 = scaled(x1, f0, sx1); sy1 = scaled(y1, f1, sy1);
    sz1 = scaled(z1, f2, sz1); sw1 = scaled(w1, f3, sw1);
  }
  const o = to + m * line + n, i = scales + (m << 2);
  finishRow(o, sx0, sy0, sz0, sw0, i, wScales + n, bias + n);
  finishRow(o + line, sx1, sy1, sz1, sw1, i + 4, wScales + n, bias + n);
}

export function multiply(
  a: usize, scales: usize, offsets: usize, apart: usize, weights: usize, factors: usize,
  wScales: usize, bias: usize, to: usize, rows: usize, outputs: usize, inputs: usize,
): void {
  const line = outputs << 2, groups = inputs / GROUP << 2;
  let w = weights, f = factors;
  for (let n: usize = 0; n < line; n += 4 * PANEL) {
    for (let m: usize = 0; m < rows; m += 4) {
      const p = a + m * inputs, g = offsets + m * groups;
      multiplyPanel(p, g, w, f, inputs, to, line, scales, wScales, bias, m, n);
      multiplyPanel(p + 8, g + 8, w, f, inputs, to, line, scales, wScales, bias, m + 2, n);
    }
    w += PANEL * inputs;
    f += groups << 4;
  }
  for (let r: usize = 0; r < rows; r++) {
    addApart(apart + (r << 3), weights, factors, wScales, to + r * line, outputs, inputs);
  }
}
