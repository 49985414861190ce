/**
 * The products of matrices, 4 rows times 16 columns at a time: for processors with 32 registers, or
 * with an instruction for `dot`. `pair_products.as` has the same functions for the others.
 */
import { addApart, finishRow, GROUP, PANEL, scaled } from "./linear";
import { dot, lane0, lane1, lane2, lane3 } from "./numbers";

/**
 * to[4][16] = rows[4][depth] · columns[depth][16], in whole numbers. The rows are 14 bits as
 * [upper 7, lower 7][depth / 4][4 rows][4], the columns signed bytes as [depth / 4][16][4]. `depth`
 * is a multiple of 4, `line` in bytes.
 */
@inline
export function multiplyTile(
  rows: usize, columns: usize, to: usize, line: usize, depth: usize,
): void {
  const zero = i32x4.splat(0);
  let x0 = zero, y0 = zero, z0 = zero, w0 = zero, x1 = zero, y1 = zero, z1 = zero, w1 = zero;
  let x2 = zero, y2 = zero, z2 = zero, w2 = zero, x3 = zero, y3 = zero, z3 = zero, w3 = zero;
  for (let plane = 0; plane < 2; plane++) {
    x0 = i32x4.shl(x0, 7); y0 = i32x4.shl(y0, 7); z0 = i32x4.shl(z0, 7); w0 = i32x4.shl(w0, 7);
    x1 = i32x4.shl(x1, 7); y1 = i32x4.shl(y1, 7); z1 = i32x4.shl(z1, 7); w1 = i32x4.shl(w1, 7);
    x2 = i32x4.shl(x2, 7); y2 = i32x4.shl(y2, 7); z2 = i32x4.shl(z2, 7); w2 = i32x4.shl(w2, 7);
    x3 = i32x4.shl(x3, 7); y3 = i32x4.shl(y3, 7); z3 = i32x4.shl(z3, 7); w3 = i32x4.shl(w3, 7);
    let c = columns;
    for (const end = rows + (depth << 2); rows < end; rows += 16, c += 64) {
      const q = v128.load(rows);
      const s = v128.load(c), t = v128.load(c, 16), u = v128.load(c, 32), v = v128.load(c, 48);
      let k: v128;
      k = lane0(q);
      x0 = dot(s, k, x0); y0 = dot(t, k, y0); z0 = dot(u, k, z0); w0 = dot(v, k, w0);
      k = lane1(q);
      x1 = dot(s, k, x1); y1 = dot(t, k, y1); z1 = dot(u, k, z1); w1 = dot(v, k, w1);
      k = lane2(q);
      x2 = dot(s, k, x2); y2 = dot(t, k, y2); z2 = dot(u, k, z2); w2 = dot(v, k, w2);
      k = lane3(q);
      x3 = dot(s, k, x3); y3 = dot(t, k, y3); z3 = dot(u, k, z3); w3 = dot(v, k, w3);
    }
  }
  v128.store(to, x0); v128.store(to, y0, 16); v128.store(to, z0, 32); v128.store(to, w0, 48);
  to += line;
  v128.store(to, x1); v128.store(to, y1, 16); v128.store(to, z1, 32); v128.store(to, w1, 48);
  to += line;
  v128.store(to, x2); v128.store(to, y2, 16); v128.store(to, z2, 32); v128.store(to, w2, 48);
  to += line;
  v128.store(to, x3); v128.store(to, y3, 16); v128.store(to, z3, 32); v128.store(to, w3, 48);
}

/**
 * Multiplies activations [rows][inputs] of `quantize` by weights of `packWeights`, to f32
 * [rows][outputs]. `rows` is a multiple of 4, `outputs` of 16, `inputs` of `GROUP`.
 */
export function multiply(
  a: usize, scales: usize, offsets: usize, apart: usize, weights: usize, factors: usize,
  wScales: usize, bias: usize, to: usize, rows: usize, outputs: usize, inputs: usize,
): void {
  const line = outputs << 2, zero = i32x4.splat(0);
  let panel = weights, panelFactors = factors;
  for (let n: usize = 0; n < line; n += 4 * PANEL) {
    let p = a, g = offsets;
    for (let m: usize = 0; m < rows; m += 4) {
      let w = panel, f = panelFactors;
      let sx0 = zero, sy0 = zero, sz0 = zero, sw0 = zero;
      let sx1 = zero, sy1 = zero, sz1 = zero, sw1 = zero;
      let sx2 = zero, sy2 = zero, sz2 = zero, sw2 = zero;
      let sx3 = zero, sy3 = zero, sz3 = zero, sw3 = zero;
      for (const end = p + (inputs << 2); p < end; g += 16, f += 4 * PANEL) {
        let q = v128.load(g);
        let x0 = lane0(q), y0 = x0, z0 = x0, w0 = x0;
        let x1 = lane1(q), y1 = x1, z1 = x1, w1 = x1;
        let x2 = lane2(q), y2 = x2, z2 = x2, w2 = x2;
        let x3 = lane3(q), y3 = x3, z3 = x3, w3 = x3;
        for (const e = p + 4 * GROUP; p < e; p += 32, w += 64) {
          q = v128.load(p);
          // One step, written twice: 4 inputs of 4 rows times 16 outputs.
          let s = v128.load(w), t = v128.load(w, 16), u = v128.load(w, 32), v = v128.load(w, 48);
          let k: v128;
          k = lane0(q);
          x0 = dot(k, s, x0); y0 = dot(k, t, y0); z0 = dot(k, u, z0); w0 = dot(k, v, w0);
          k = lane1(q);
          x1 = dot(k, s, x1); y1 = dot(k, t, y1); z1 = dot(k, u, z1); w1 = dot(k, v, w1);
          k = lane2(q);
          x2 = dot(k, s, x2); y2 = dot(k, t, y2); z2 = dot(k, u, z2); w2 = dot(k, v, w2);
          k = lane3(q);
          x3 = dot(k, s, x3); y3 = dot(k, t, y3); z3 = dot(k, u, z3); w3 = dot(k, v, w3);
          q = v128.load(p, 16);
          w += 64;
          s = v128.load(w); t = v128.load(w, 16); u = v128.load(w, 32); v = v128.load(w, 48);
          k = lane0(q);
          x0 = dot(k, s, x0); y0 = dot(k, t, y0); z0 = dot(k, u, z0); w0 = dot(k, v, w0);
          k = lane1(q);
          x1 = dot(k, s, x1); y1 = dot(k, t, y1); z1 = dot(k, u, z1); w1 = dot(k, v, w1);
          k = lane2(q);
          x2 = dot(k, s, x2); y2 = dot(k, t, y2); z2 = dot(k, u, z2); w2 = dot(k, v, w2);
          k = lane3(q);
          x3 = dot(k, s, x3); y3 = dot(k, t, y3); z3 = dot(k, u, z3); w3 = dot(k, v, w3);
        }
        const f0 = v128.load(f), f1 = v128.load(f, 16);
        const f2 = v128.load(f, 32), f3 = v128.load(f, 48);
        sx0 = scaled(x0, f0, sx0); sy0 = scaled(y0, f1, sy0);
        sz0 = scaled(z0, f2, sz0); sw0 = scaled(w0, f3, sw0);
        sx1 = scaled(x1, f0, sx1); sy1 = scaled(y1, f1, sy1);
        sz1 = scaled(z1, f2, sz1); sw1 = scaled(w1, f3, sw1);
        sx2 = scaled(x2, f0, sx2); sy2 = scaled(y2, f1, sy2);
        sz2 = scaled(z2, f2, sz2); sw2 = scaled(w2, f3, sw2);
        sx3 = scaled(x3, f0, sx3); sy3 = scaled(y3, f1, sy3);
        sz3 = scaled(z3, f2, sz3); sw3 = scaled(w3, f3, sw3);
      }
      const o = to + m * line + n, i = scales + (m << 2);
      finishRow(o, sx0, sy0, sz0, sw0, i, wScales + n, bias + n);
      finishRow(o + line, sx1, sy1, sz1, sw1, i + 4, wScales + n, bias + n);
      finishRow(o + 2 * line, sx2, sy2, sz2, sw2, i + 8, wScales + n, bias + n);
      finishRow(o + 3 * line, sx3, sy3, sz3, sw3, i + 12, wScales + n, bias + n);
    }
    panel += PANEL * inputs;
    panelFactors += inputs / GROUP * 4 * PANEL;
  }
  for (let r: usize = 0; r < rows; r++) {
    addApart(apart + (r << 3), weights, factors, wScales, to + r * line, outputs, inputs);
  }
}
