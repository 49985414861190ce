import {
  BYTE_PEAK, dot, lane0, lane1, lane2, lane3, largest, storeTurned, sumsOf, toBytes, totalOf,
} from "./numbers";

/** What is added to a weight to make it positive. */
export const WEIGHT_OFFSET: i32 = 64;
/** `multiply` computes this many outputs of four rows at a time. */
export const PANEL: usize = 16;
/** Inputs whose weights share a scale. */
export const GROUP: usize = 128;
/** An activation so many times as large as the next is multiplied apart. */
const APART: f32 = 2;

/** The second largest of four. */
@inline
function secondOf(v: v128): f32 {
  const a = f32x4.extract_lane(v, 0), b = f32x4.extract_lane(v, 1);
  const c = f32x4.extract_lane(v, 2), d = f32x4.extract_lane(v, 3);
  const ab = max(a, b), cd = max(c, d);
  return max(min(ab, cd), ab > cd ? min(a, b) : min(c, d));
}

/** The address of the first value as large as `peak`. */
@inline
function find(row: usize, peak: f32): usize {
  while (abs<f32>(load<f32>(row)) < peak) row += 4;
  return row;
}

/**
 * The largest value of a row. If it is far above the next, it is set to 0, `apart` gets its
 * position and its value, and the next is returned.
 */
@inline
function takeApart(row: usize, width: usize, apart: usize): f32 {
  // The largest and the next value of each lane, then of all four.
  let tops = f32x4.splat(0), nexts = tops;
  for (let at = row, end = row + (width << 2); at < end; at += 16) {
    const v = f32x4.abs(v128.load(at));
    nexts = i32x4.max_s(nexts, i32x4.min_s(tops, v));
    tops = i32x4.max_s(tops, v);
  }
  const peak = largest(tops), next = max(secondOf(tops), largest(nexts));
  store<f32>(apart, 0, 4);
  if (peak <= APART * next) return peak;
  const top = find(row, peak);
  store<i32>(apart, top - row >> 2);
  store<f32>(apart, load<f32>(top), 4);
  store<f32>(top, 0);
  return next;
}

/** Puts back what `takeApart` took. */
@inline
function putBack(row: usize, apart: usize): void {
  const value = load<f32>(apart, 4);
  if (value != 0) store<f32>(row + (load<i32>(apart) << 2), value);
}

/**
 * Rows of f32 to bytes for `multiply`, each by a scale of its own, as
 * [rows / 4][width / 4][4 rows][4]. `offsets` gets, for each group of a row, what takes the
 * `WEIGHT_OFFSET` of its weights off again, as [rows / 4][groups][4 rows]; `apart` gets for each
 * row the position and the value of the activation that is left out, or the value 0. `width` is a
 * multiple of `GROUP`, `rows` of 4.
 */
export function quantize(
  from: usize, to: usize, scales: usize, offsets: usize, apart: usize, rows: usize, width: usize,
): void {
  const line = width << 2;
  for (; rows > 0; rows -= 4, from += 4 * line, scales += 16, apart += 32) {
    const row1 = from + line, row2 = row1 + line, row3 = row2 + line;
    const peaks = f32x4(
      takeApart(from, width, apart), takeApart(row1, width, apart + 8),
      takeApart(row2, width, apart + 16), takeApart(row3, width, apart + 24),
    );
    v128.store(scales, f32x4.div(peaks, f32x4.splat(BYTE_PEAK)));
    const factors = f32x4.div(f32x4.splat(BYTE_PEAK), peaks);
    const f0 = lane0(factors), f1 = lane1(factors), f2 = lane2(factors), f3 = lane3(factors);
    for (let k: usize = 0; k < line; offsets += 16) {
      let s0 = i32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      for (const end = k + 4 * GROUP; k < end; k += 64, to += 64) {
        const a = toBytes(from + k, f0), b = toBytes(row1 + k, f1);
        const c = toBytes(row2 + k, f2), d = toBytes(row3 + k, f3);
        s0 = i32x4.add(s0, sumsOf(a)); s1 = i32x4.add(s1, sumsOf(b));
        s2 = i32x4.add(s2, sumsOf(c)); s3 = i32x4.add(s3, sumsOf(d));
        storeTurned(to, 16, a, b, c, d);
      }
      const sums = i32x4(totalOf(s0), totalOf(s1), totalOf(s2), totalOf(s3));
      v128.store(offsets, i32x4.mul(sums, i32x4.splat(-WEIGHT_OFFSET)));
    }
    putBack(from, apart); putBack(row1, apart + 8);
    putBack(row2, apart + 16); putBack(row3, apart + 24);
  }
}

@inline
function scaled(group: v128, factors: v128, sum: v128): v128 {
  return i32x4.add(sum, i32x4.mul(group, factors));
}

/** Four outputs of one row: back to f32, and the bias added. */
@inline
function finish(to: usize, sum: v128, scale: v128, wScales: usize, bias: usize): void {
  const scaled = f32x4.mul(f32x4.mul(f32x4.convert_i32x4_s(sum), scale), v128.load(wScales));
  v128.store(to, f32x4.add(scaled, v128.load(bias)));
}

/** 16 outputs of one row. */
@inline
function finishRow(
  to: usize, x: v128, y: v128, z: v128, w: v128, scales: usize, wScales: usize, bias: usize,
): void {
  const scale = v128.load32_splat(scales);
  finish(to, x, scale, wScales, bias);
  finish(to + 16, y, scale, wScales + 16, bias + 16);
  finish(to + 32, z, scale, wScales + 32, bias + 32);
  finish(to + 48, w, scale, wScales + 48, bias + 48);
}

/** Adds to a row of outputs what its activation that was left out gives. */
@inline
function addApart(
  apart: usize, weights: usize, factors: usize, wScales: usize, to: usize, outputs: usize,
  inputs: usize,
): void {
  const value = v128.load32_splat(apart, 4);
  if (load<f32>(apart, 4) == 0) return;
  const input = <usize>load<i32>(apart), shift = <i32>(input & 3) << 3;
  let w = weights + (input >> 2) * 4 * PANEL;
  let f = factors + input / GROUP * 4 * PANEL;
  const nextPanel = PANEL * inputs, nextFactors = inputs / GROUP * 4 * PANEL;
  for (const end = to + (outputs << 2); to < end; w += nextPanel, f += nextFactors) {
    for (let i: usize = 0; i < 4 * PANEL && to < end; i += 16, to += 16, wScales += 16) {
      const bytes = v128.and(i32x4.shr_u(v128.load(w + i), shift), i32x4.splat(127));
      const exact = i32x4.mul(i32x4.sub(bytes, i32x4.splat(WEIGHT_OFFSET)), v128.load(f + i));
      const weight = f32x4.mul(f32x4.convert_i32x4_s(exact), v128.load(wScales));
      v128.store(to, f32x4.add(v128.load(to), f32x4.mul(weight, value)));
    }
  }
}

/**
 * Activations [rows][inputs] times weights, as `quantize` and `packWeights` made them, to f32
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
