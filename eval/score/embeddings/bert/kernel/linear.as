import {
  BYTE_PEAK, lane0, lane1, lane2, lane3, largest, storeTurned, sumsOf, toBytes, totalOf,
} from "./numbers";

/** Added to a weight to make it positive. */
export const WEIGHT_OFFSET: i32 = 64;
/** `multiply` computes this many outputs at a time. */
export const PANEL: usize = 16;
/** Inputs whose weights share a scale. */
export const GROUP: usize = 128;
/** An activation this many times as large as the next one is multiplied separately. */
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
 * The largest value of a row. If it is far above the next one, it is set to 0, `apart` is set to
 * its position and value, and the next one is returned.
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

/** Restores the value that `takeApart` removed. */
@inline
function putBack(row: usize, apart: usize): void {
  const value = load<f32>(apart, 4);
  if (value != 0) store<f32>(row + (load<i32>(apart) << 2), value);
}

/**
 * Converts rows of f32 to bytes for `multiply`, each with its own scale, as [rows / 4][width / 4][4
 * rows][4]. `offsets` is set to the correction for the `WEIGHT_OFFSET` of the weights, for each
 * group of a row, as [rows / 4][groups][4 rows]; `apart` to the position and the value of the
 * activation of each row that is left out, or the value 0. `width` is a multiple of `GROUP`, `rows`
 * of 4.
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

/** Adds the sums of a group of inputs, times its factors. */
@inline
export function scaled(group: v128, factors: v128, sum: v128): v128 {
  return i32x4.add(sum, i32x4.mul(group, factors));
}

/** Converts four outputs of one row to f32 and adds the bias. */
@inline
export function finish(to: usize, sum: v128, scale: v128, wScales: usize, bias: usize): void {
  const scaled = f32x4.mul(f32x4.mul(f32x4.convert_i32x4_s(sum), scale), v128.load(wScales));
  v128.store(to, f32x4.add(scaled, v128.load(bias)));
}

/** 16 outputs of one row. */
@inline
export function finishRow(
  to: usize, x: v128, y: v128, z: v128, w: v128, scales: usize, wScales: usize, bias: usize,
): void {
  const scale = v128.load32_splat(scales);
  finish(to, x, scale, wScales, bias);
  finish(to + 16, y, scale, wScales + 16, bias + 16);
  finish(to + 32, z, scale, wScales + 32, bias + 32);
  finish(to + 48, w, scale, wScales + 48, bias + 48);
}

/** Adds the products of the activation that was left out to a row of outputs. */
@inline
export function addApart(
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
