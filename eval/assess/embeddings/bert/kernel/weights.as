import { BYTE_PEAK, peakOf, toBytes, toIntegers } from "./numbers";
import { GROUP, PANEL, WEIGHT_OFFSET } from "./linear";

const WEIGHT_PEAK: f32 = 63;
/** The factor of the group with an output's largest weight; the others have less. */
const LARGEST_FACTOR: f32 = 16;

@inline
function floatsOf(halves: v128): v128 {
  const size = i32x4.shl(v128.and(halves, i32x4.splat(0x7fff)), 13);
  const sign = i32x4.shl(v128.and(halves, i32x4.splat(0x8000)), 16);
  // The exponent of a half is 112 less. Multiplying also handles subnormal numbers.
  return v128.or(f32x4.mul(size, f32x4.splat(5.192296858534828e33)), sign);
}

/** Converts finite 16-bit floats to f32. `count` is a multiple of 8. */
export function widen(from: usize, to: usize, count: usize): void {
  for (const end = from + (count << 1); from < end; from += 16, to += 32) {
    const halves = v128.load(from);
    v128.store(to, floatsOf(i32x4.extend_low_i16x8_u(halves)));
    v128.store(to, floatsOf(i32x4.extend_high_i16x8_u(halves)), 16);
  }
}

@inline
function factorFor(peak: f32): v128 {
  return f32x4.splat(peak > 0 ? BYTE_PEAK / peak : 0);
}

/** Converts rows of f32 to bytes, each with its own scale. `width` is a multiple of 16. */
export function packRows(from: usize, to: usize, scales: usize, rows: i32, width: usize): void {
  for (; rows > 0; rows--, scales += 4) {
    const peak = peakOf(from, width), scale = factorFor(peak);
    store<f32>(scales, peak / BYTE_PEAK);
    for (const end = to + width; to < end; to += 16, from += 64) {
      v128.store(to, toBytes(from, scale));
    }
  }
}

/**
 * Converts weights [count][inputs] of f32, of the outputs from `first` on, to 7 bits in the layout
 * of `multiply`: [outputs / 16][inputs / 4][16 outputs][4 inputs]; `factors` is set to [outputs /
 * 16][groups][16].
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
