/**
 * The arithmetic of the sentence encoder, in AssemblyScript; `deno task kernel` builds it twice, with
 * and without relaxed SIMD. Every function works on addresses of the one memory that it imports and
 * keeps no state.
 *
 * Weights have 7 bits and activations 8: then the relaxed dot product cannot overflow in any way
 * that an implementation may choose, and all processors give the same integers. No operation on
 * floats is relaxed, so that the vectors are the same to the last bit, in both builds. Two things
 * keep the 7 and 8 bits close to the published model: a weight has the scale of its output times a
 * small whole number for each group of `GROUP` inputs, and where one activation of a row is far
 * above the others it is multiplied apart from them.
 */

const ACTIVATION_PEAK: f32 = 127;
const WEIGHT_PEAK: f32 = 63;
/** What is added to a weight to make it positive. */
const WEIGHT_OFFSET: i32 = 64;
/** `multiply` computes this many outputs of four rows at a time. */
const PANEL: usize = 16;
/** Inputs whose weights share a scale. */
const GROUP: usize = 128;
/** The factor of the group with an output's largest weight; the others have less. */
const LARGEST_FACTOR: f32 = 16;
/** An activation so many times as large as the next is multiplied apart. */
const APART: f32 = 2;

/** Adds to each of 4 sums the products of its 4 bytes in `a` (signed) and in `w` (0 to 127). */
@inline
function dot(a: v128, w: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_dot_i8x16_i7x16_add_s(a, w, sum);
  const low = i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_low_i8x16_s(a, w));
  const high = i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_high_i8x16_s(a, w));
  const even = v128.shuffle<i32>(low, high, 0, 2, 4, 6);
  const odd = v128.shuffle<i32>(low, high, 1, 3, 5, 7);
  return i32x4.add(sum, i32x4.add(even, odd));
}

/** a · b + c, not fused: all processors round alike. */
@inline
function madd(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(f32x4.mul(a, b), c);
}

@inline
function largest(v: v128): f32 {
  const high = max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3));
  return max(max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)), high);
}

/** The second largest of four. */
@inline
function secondOf(v: v128): f32 {
  const a = f32x4.extract_lane(v, 0), b = f32x4.extract_lane(v, 1);
  const c = f32x4.extract_lane(v, 2), d = f32x4.extract_lane(v, 3);
  const ab = max(a, b), cd = max(c, d);
  return max(min(ab, cd), ab > cd ? min(a, b) : min(c, d));
}

@inline
function total(v: v128): f32 {
  const high = f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3);
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + high;
}

/** The largest absolute value of some f32; `width` is a multiple of 4. */
@inline
function peakOf(row: usize, width: usize): f32 {
  let top = f32x4.splat(0);
  for (let k: usize = 0; k < width; k += 4) {
    top = f32x4.pmax(top, f32x4.abs(v128.load(row + (k << 2))));
  }
  return largest(top);
}

/** The address of the first value as large as `peak`. */
@inline
function find(row: usize, peak: f32): usize {
  while (abs<f32>(load<f32>(row)) < peak) row += 4;
  return row;
}

@inline
function toIntegers(at: usize, scale: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(at), scale)));
}

/** The sums of four times four bytes. */
@inline
function sumsOf(bytes: v128): v128 {
  return i32x4.extadd_pairwise_i16x8_s(i16x8.extadd_pairwise_i8x16_s(bytes));
}

/** 16 floats to bytes. */
@inline
function toBytes(from: usize, scale: v128): v128 {
  const a = toIntegers(from, scale), b = toIntegers(from + 16, scale);
  const c = toIntegers(from + 32, scale), d = toIntegers(from + 48, scale);
  return i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}

@inline
function floatsOf(halves: v128): v128 {
  const size = i32x4.shl(v128.and(halves, i32x4.splat(0x7fff)), 13);
  const sign = i32x4.shl(v128.and(halves, i32x4.splat(0x8000)), 16);
  // The exponent of a half is 112 less; so multiplied, the smallest numbers are right as well.
  return v128.or(f32x4.mul(size, f32x4.splat(5.192296858534828e33)), sign);
}

/** 16-bit floats to f32; none is infinite. `count` is a multiple of 8. */
export function widen(from: usize, to: usize, count: usize): void {
  for (const end = from + (count << 1); from < end; from += 16, to += 32) {
    const halves = v128.load(from);
    v128.store(to, floatsOf(i32x4.extend_low_i16x8_u(halves)));
    v128.store(to, floatsOf(i32x4.extend_high_i16x8_u(halves)), 16);
  }
}

@inline
function factorFor(peak: f32): v128 {
  return f32x4.splat(peak > 0 ? ACTIVATION_PEAK / peak : 0);
}

/** Rows of f32 to bytes, each by a scale of its own. `width` is a multiple of 16. */
export function packRows(from: usize, to: usize, scales: usize, rows: i32, width: usize): void {
  for (; rows > 0; rows--, scales += 4) {
    const peak = peakOf(from, width), scale = factorFor(peak);
    store<f32>(scales, peak / ACTIVATION_PEAK);
    for (const end = to + width; to < end; to += 16, from += 64) v128.store(to, toBytes(from, scale));
  }
}

@inline
function totalOf(v: v128): i32 {
  const pairs = i32x4.add(v, v128.shuffle<i32>(v, v, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}

/**
 * Rows of f32 to bytes for `multiply`, each by a scale of its own, as [rows / 4][width / 4][4 rows][4].
 * `offsets` gets, for each group of a row, what takes the `WEIGHT_OFFSET` of its weights off again,
 * as [rows / 4][groups][4 rows]; `apart` gets for each row the position and the value of the
 * activation that is left out, or the value 0. `width` is a multiple of `GROUP`, `rows` of 4.
 */
export function quantize(
  from: usize, to: usize, scales: usize, offsets: usize, apart: usize, rows: usize, width: usize,
): void {
  for (let r: usize = 0; r < rows; r++, scales += 4, apart += 8) {
    // The largest and the next value of each lane, then of all four.
    let tops = f32x4.splat(0), nexts = tops;
    for (let at = from, end = from + (width << 2); at < end; at += 16) {
      const v = f32x4.abs(v128.load(at));
      nexts = i32x4.max_s(nexts, i32x4.min_s(tops, v));
      tops = i32x4.max_s(tops, v);
    }
    let peak = largest(tops), top = from, value: f32 = 0;
    const next = max(secondOf(tops), largest(nexts));
    if (peak > APART * next) {
      top = find(from, peak);
      value = load<f32>(top);
      store<f32>(top, 0);
      peak = next;
    }
    store<i32>(apart, top - from >> 2);
    store<f32>(apart, value, 4);
    store<f32>(scales, peak / ACTIVATION_PEAK);
    const scale = factorFor(peak);
    const quad = r >> 2, lane = (r & 3) << 2;
    let at = to + (quad * width << 2) + lane, offset = offsets + (quad * (width / GROUP) << 4) + lane;
    for (const end = from + (width << 2); from < end; offset += 16) {
      let sum = i32x4.splat(0);
      for (const groupEnd = from + 4 * GROUP; from < groupEnd; from += 64, at += 64) {
        const bytes = toBytes(from, scale);
        sum = i32x4.add(sum, sumsOf(bytes));
        v128.store_lane<i32>(at, bytes, 0);
        v128.store_lane<i32>(at, bytes, 1, 16);
        v128.store_lane<i32>(at, bytes, 2, 32);
        v128.store_lane<i32>(at, bytes, 3, 48);
      }
      store<i32>(offset, -WEIGHT_OFFSET * totalOf(sum));
    }
    if (value != 0) store<f32>(top, value);
  }
}

/**
 * Weights as f32 [count][inputs] to 7 bits, those of the outputs from `first` on, in the order in
 * which `multiply` reads them: [outputs / 16][inputs / 4][16 outputs][4 inputs]; `factors` gets
 * [outputs / 16][groups][16].
 */
export function packWeights(
  from: usize, to: usize, factors: usize, scales: usize, first: usize, count: usize, inputs: usize,
): void {
  const groups = inputs / GROUP;
  for (let n = first; n < first + count; n++) {
    const panel = n - n % PANEL, lane = n % PANEL;
    const unit = peakOf(from, inputs) / LARGEST_FACTOR;
    store<f32>(scales + (n << 2), unit / WEIGHT_PEAK);
    let at = to + panel * inputs + lane * 4;
    for (let g: usize = 0; g < groups; g++) {
      const factor = max<f32>(1, ceil<f32>(peakOf(from, GROUP) / unit));
      store<i32>(factors + (panel * groups + g * PANEL + lane << 2), <i32>factor);
      const scale = f32x4.splat(WEIGHT_PEAK / (unit * factor));
      for (const end = from + 4 * GROUP; from < end; from += 16, at += 4 * PANEL) {
        const four = i32x4.add(toIntegers(from, scale), i32x4.splat(WEIGHT_OFFSET));
        const halves = i16x8.narrow_i32x4_s(four, four);
        store<i32>(at, i32x4.extract_lane(i8x16.narrow_i16x8_u(halves, halves), 0));
      }
    }
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
        let x0 = v128.shuffle<i32>(q, q, 0, 0, 0, 0), y0 = x0, z0 = x0, w0 = x0;
        let x1 = v128.shuffle<i32>(q, q, 1, 1, 1, 1), y1 = x1, z1 = x1, w1 = x1;
        let x2 = v128.shuffle<i32>(q, q, 2, 2, 2, 2), y2 = x2, z2 = x2, w2 = x2;
        let x3 = v128.shuffle<i32>(q, q, 3, 3, 3, 3), y3 = x3, z3 = x3, w3 = x3;
        for (const e = p + 4 * GROUP; p < e; p += 32, w += 64) {
          q = v128.load(p);
          // One step, written twice: 4 inputs of 4 rows times 16 outputs.
          let s = v128.load(w), t = v128.load(w, 16), u = v128.load(w, 32), v = v128.load(w, 48);
          let k: v128;
          k = v128.shuffle<i32>(q, q, 0, 0, 0, 0);
          x0 = dot(k, s, x0); y0 = dot(k, t, y0); z0 = dot(k, u, z0); w0 = dot(k, v, w0);
          k = v128.shuffle<i32>(q, q, 1, 1, 1, 1);
          x1 = dot(k, s, x1); y1 = dot(k, t, y1); z1 = dot(k, u, z1); w1 = dot(k, v, w1);
          k = v128.shuffle<i32>(q, q, 2, 2, 2, 2);
          x2 = dot(k, s, x2); y2 = dot(k, t, y2); z2 = dot(k, u, z2); w2 = dot(k, v, w2);
          k = v128.shuffle<i32>(q, q, 3, 3, 3, 3);
          x3 = dot(k, s, x3); y3 = dot(k, t, y3); z3 = dot(k, u, z3); w3 = dot(k, v, w3);
          q = v128.load(p, 16);
          w += 64;
          s = v128.load(w); t = v128.load(w, 16); u = v128.load(w, 32); v = v128.load(w, 48);
          k = v128.shuffle<i32>(q, q, 0, 0, 0, 0);
          x0 = dot(k, s, x0); y0 = dot(k, t, y0); z0 = dot(k, u, z0); w0 = dot(k, v, w0);
          k = v128.shuffle<i32>(q, q, 1, 1, 1, 1);
          x1 = dot(k, s, x1); y1 = dot(k, t, y1); z1 = dot(k, u, z1); w1 = dot(k, v, w1);
          k = v128.shuffle<i32>(q, q, 2, 2, 2, 2);
          x2 = dot(k, s, x2); y2 = dot(k, t, y2); z2 = dot(k, u, z2); w2 = dot(k, v, w2);
          k = v128.shuffle<i32>(q, q, 3, 3, 3, 3);
          x3 = dot(k, s, x3); y3 = dot(k, t, y3); z3 = dot(k, u, z3); w3 = dot(k, v, w3);
        }
        const f0 = v128.load(f), f1 = v128.load(f, 16), f2 = v128.load(f, 32), f3 = v128.load(f, 48);
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

/** Of Φ's polynomial. Read once per call: as constants of the code they would be made for each x. */
const PHI = memory.data<f32>([
  2.501558961e-8, -1.704172110e-6, 4.986565616e-5, -8.305240761e-4, 8.841368588e-3, -6.469576037e-2,
  3.979444555e-1,
]);

/** x · Φ(x) in place, Φ as a polynomial: within 3e-4. `count` is a multiple of 4. */
export function gelu(x: usize, count: usize): void {
  const c0 = v128.load32_splat(PHI), c1 = v128.load32_splat(PHI, 4);
  const c2 = v128.load32_splat(PHI, 8), c3 = v128.load32_splat(PHI, 12);
  const c4 = v128.load32_splat(PHI, 16), c5 = v128.load32_splat(PHI, 20);
  const c6 = v128.load32_splat(PHI, 24);
  for (const end = x + (count << 2); x < end; x += 16) {
    const v = v128.load(x);
    const size = i32x4.min_s(f32x4.abs(v), f32x4.splat(3.9)); // positive floats are ordered as integers
    const z = v128.or(size, v128.and(v, f32x4.splat(-0.0)));
    const u = f32x4.mul(size, size);
    let p = madd(madd(c0, u, c1), u, c2);
    p = madd(madd(p, u, c3), u, c4);
    p = madd(madd(p, u, c5), u, c6);
    v128.store(x, f32x4.mul(v, madd(p, z, f32x4.splat(0.5))));
  }
}

/** x = LayerNorm(x + added) · gain + bias, row by row; `added` may be 0, for nothing. */
export function normalize(
  x: usize, added: usize, gain: usize, bias: usize, rows: i32, width: usize, epsilon: f32,
): void {
  const line = width << 2;
  for (; rows > 0; rows--, x += line) {
    let sum = f32x4.splat(0), squares = f32x4.splat(0);
    for (let k: usize = 0; k < line; k += 16) {
      let v = v128.load(x + k);
      if (added) v128.store(x + k, v = f32x4.add(v, v128.load(added + k)));
      sum = f32x4.add(sum, v);
      squares = f32x4.add(squares, f32x4.mul(v, v));
    }
    const mean = total(sum) / <f32>width;
    const variance = total(squares) / <f32>width - mean * mean;
    const factor = f32x4.splat(1 / sqrt<f32>(variance + epsilon)), middle = f32x4.splat(mean);
    for (let k: usize = 0; k < line; k += 16) {
      const v = f32x4.mul(f32x4.sub(v128.load(x + k), middle), factor);
      v128.store(x + k, f32x4.add(f32x4.mul(v, v128.load(gain + k)), v128.load(bias + k)));
    }
    if (added) added += line;
  }
}

/** e^x for x ≤ 0, as a power of two times a polynomial. */
@inline
function exponential(x: v128): v128 {
  const v = f32x4.pmax(x, f32x4.splat(-87)), one = f32x4.splat(1);
  const n = f32x4.nearest(f32x4.mul(v, f32x4.splat(1.44269504)));
  const r = madd(n, f32x4.splat(-0.693147181), v);
  let p = madd(f32x4.splat(0.0083333333), r, f32x4.splat(0.0416666667));
  p = madd(madd(p, r, f32x4.splat(0.166666667)), r, f32x4.splat(0.5));
  p = madd(madd(p, r, one), r, one);
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(p, power);
}

/** to[4][8] = a[4][depth] · b[depth][8], in f32; `lineA` and `lineTo` in bytes, `depth` a multiple of 4. */
@inline
function multiplyTile(
  a: usize, lineA: usize, b: usize, to: usize, lineTo: usize, depth: usize,
): void {
  let x0 = f32x4.splat(0), y0 = f32x4.splat(0), x1 = f32x4.splat(0), y1 = f32x4.splat(0);
  let x2 = f32x4.splat(0), y2 = f32x4.splat(0), x3 = f32x4.splat(0), y3 = f32x4.splat(0);
  let p1 = a + lineA, p2 = p1 + lineA, p3 = p2 + lineA;
  for (const end = a + (depth << 2); a < end; a += 16, p1 += 16, p2 += 16, p3 += 16, b += 128) {
    const a0 = v128.load(a), a1 = v128.load(p1), a2 = v128.load(p2), a3 = v128.load(p3);
    let u = v128.load(b), v = v128.load(b, 16), t: v128;
    t = v128.shuffle<i32>(a0, a0, 0, 0, 0, 0); x0 = madd(t, u, x0); y0 = madd(t, v, y0);
    t = v128.shuffle<i32>(a1, a1, 0, 0, 0, 0); x1 = madd(t, u, x1); y1 = madd(t, v, y1);
    t = v128.shuffle<i32>(a2, a2, 0, 0, 0, 0); x2 = madd(t, u, x2); y2 = madd(t, v, y2);
    t = v128.shuffle<i32>(a3, a3, 0, 0, 0, 0); x3 = madd(t, u, x3); y3 = madd(t, v, y3);
    u = v128.load(b, 32); v = v128.load(b, 48);
    t = v128.shuffle<i32>(a0, a0, 1, 1, 1, 1); x0 = madd(t, u, x0); y0 = madd(t, v, y0);
    t = v128.shuffle<i32>(a1, a1, 1, 1, 1, 1); x1 = madd(t, u, x1); y1 = madd(t, v, y1);
    t = v128.shuffle<i32>(a2, a2, 1, 1, 1, 1); x2 = madd(t, u, x2); y2 = madd(t, v, y2);
    t = v128.shuffle<i32>(a3, a3, 1, 1, 1, 1); x3 = madd(t, u, x3); y3 = madd(t, v, y3);
    u = v128.load(b, 64); v = v128.load(b, 80);
    t = v128.shuffle<i32>(a0, a0, 2, 2, 2, 2); x0 = madd(t, u, x0); y0 = madd(t, v, y0);
    t = v128.shuffle<i32>(a1, a1, 2, 2, 2, 2); x1 = madd(t, u, x1); y1 = madd(t, v, y1);
    t = v128.shuffle<i32>(a2, a2, 2, 2, 2, 2); x2 = madd(t, u, x2); y2 = madd(t, v, y2);
    t = v128.shuffle<i32>(a3, a3, 2, 2, 2, 2); x3 = madd(t, u, x3); y3 = madd(t, v, y3);
    u = v128.load(b, 96); v = v128.load(b, 112);
    t = v128.shuffle<i32>(a0, a0, 3, 3, 3, 3); x0 = madd(t, u, x0); y0 = madd(t, v, y0);
    t = v128.shuffle<i32>(a1, a1, 3, 3, 3, 3); x1 = madd(t, u, x1); y1 = madd(t, v, y1);
    t = v128.shuffle<i32>(a2, a2, 3, 3, 3, 3); x2 = madd(t, u, x2); y2 = madd(t, v, y2);
    t = v128.shuffle<i32>(a3, a3, 3, 3, 3, 3); x3 = madd(t, u, x3); y3 = madd(t, v, y3);
  }
  v128.store(to, x0); v128.store(to, y0, 16); to += lineTo;
  v128.store(to, x1); v128.store(to, y1, 16); to += lineTo;
  v128.store(to, x2); v128.store(to, y2, 16); to += lineTo;
  v128.store(to, x3); v128.store(to, y3, 16);
}

/** A row of scores to shares that add up to 1; what lies past `length` counts for nothing. */
@inline
function softmax(row: usize, length: usize, padded: usize): void {
  for (let j = length; j < padded; j++) store<f32>(row + (j << 2), -1e30);
  const end = row + (padded << 2);
  let top = f32x4.splat(-1e30), sum = f32x4.splat(0);
  for (let at = row; at < end; at += 16) top = f32x4.pmax(top, v128.load(at));
  const peak = f32x4.splat(largest(top));
  for (let at = row; at < end; at += 16) {
    const e = exponential(f32x4.sub(v128.load(at), peak));
    v128.store(at, e);
    sum = f32x4.add(sum, e);
  }
  const factor = f32x4.splat(1 / total(sum));
  for (let at = row; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), factor));
}

/** Four floats of four rows, times `factor`, to four rows of eight: what was a row is a column. */
@inline
function turn(from: usize, line: usize, to: usize, factor: v128): void {
  const a = v128.load(from), b = v128.load(from + line);
  const c = v128.load(from + 2 * line), d = v128.load(from + 3 * line);
  const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5), cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const ef = v128.shuffle<i32>(a, b, 2, 6, 3, 7), gh = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(to, f32x4.mul(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), factor));
  v128.store(to, f32x4.mul(v128.shuffle<i32>(ab, cd, 2, 3, 6, 7), factor), 32);
  v128.store(to, f32x4.mul(v128.shuffle<i32>(ef, gh, 0, 1, 4, 5), factor), 64);
  v128.store(to, f32x4.mul(v128.shuffle<i32>(ef, gh, 2, 3, 6, 7), factor), 96);
}

/**
 * Attention within one text. `qkv` is f32 [length][3 · width]: queries, keys and values, in heads of
 * `depth` (a multiple of 8); `to` is [length][width]. Up to seven rows past the end are read, and up
 * to three written, with no meaning. `scratch` takes (2 · depth + 4) · padded floats, where `padded`
 * is `length` rounded up to 8.
 */
export function attend(
  qkv: usize, to: usize, scratch: usize, length: usize, width: usize, depth: usize, scale: f32,
): void {
  const padded = (length + 7) & ~7, line = width * 12;
  const keys = scratch, values = keys + (depth * padded << 2), shares = values + (depth * padded << 2);
  const factor = f32x4.splat(scale), zero = f32x4.splat(0);
  for (let head: usize = 0; head < width; head += depth) {
    const query = qkv + (head << 2);
    // Keys by eights [padded / 8][depth][8], scaled; values [depth / 8][padded][8].
    for (let j: usize = 0; j < padded; j += 4) {
      const key = query + (width << 2) + j * line;
      const at = keys + ((j & ~7) * depth + (j & 7) << 2);
      for (let d: usize = 0; d < depth; d += 4) {
        turn(key + (d << 2), line, at + (d << 5), factor);
      }
    }
    for (let j: usize = 0; j < padded; j++) {
      const value = query + (width << 3) + j * line;
      for (let d: usize = 0; d < depth; d += 8) {
        const at = values + (d * padded + j * 8 << 2), from = value + (d << 2);
        v128.store(at, j < length ? v128.load(from) : zero);
        v128.store(at, j < length ? v128.load(from, 16) : zero, 16);
      }
    }
    for (let i: usize = 0; i < length; i += 4) {
      for (let j: usize = 0; j < padded; j += 8) {
        const block = keys + (j * depth << 2);
        multiplyTile(query + i * line, line, block, shares + (j << 2), padded << 2, depth);
      }
      for (let r: usize = 0; r < 4; r++) softmax(shares + (r * padded << 2), length, padded);
      const out = to + (i * width + head << 2);
      for (let d: usize = 0; d < depth; d += 8) {
        const block = values + (d * padded << 2);
        multiplyTile(shares, padded << 2, block, out + (d << 2), width << 2, padded);
      }
    }
  }
}
