/** The highest number that is stored as a byte. */
export const BYTE_PEAK: f32 = 127;

/** Adds to each of 4 sums the products of its 4 bytes in `a` (signed) and in `w` (0 to 127). */
@inline
export function dot(a: v128, w: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_dot_i8x16_i7x16_add_s(a, w, sum);
  const low = i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_low_i8x16_s(a, w));
  const high = i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_high_i8x16_s(a, w));
  const even = v128.shuffle<i32>(low, high, 0, 2, 4, 6);
  const odd = v128.shuffle<i32>(low, high, 1, 3, 5, 7);
  return i32x4.add(sum, i32x4.add(even, odd));
}

/** a · b + c, not fused, so that all processors round in the same way. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(f32x4.mul(a, b), c);
}

@inline
export function largest(v: v128): f32 {
  const high = max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3));
  return max(max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)), high);
}

@inline
export function total(v: v128): f32 {
  const high = f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3);
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + high;
}

@inline
export function totalOf(v: v128): i32 {
  const pairs = i32x4.add(v, v128.shuffle<i32>(v, v, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}

/** The largest absolute value of a row of f32; `width` is a multiple of 4. */
@inline
export function peakOf(row: usize, width: usize): f32 {
  let top = f32x4.splat(0);
  for (let k: usize = 0; k < width; k += 4) {
    top = f32x4.pmax(top, f32x4.abs(v128.load(row + (k << 2))));
  }
  return largest(top);
}

/** Four copies of the first of four numbers. */
@inline
export function lane0(v: v128): v128 {
  return v128.shuffle<i32>(v, v, 0, 0, 0, 0);
}

/** Four copies of the second. */
@inline
export function lane1(v: v128): v128 {
  return v128.shuffle<i32>(v, v, 1, 1, 1, 1);
}

/** Four copies of the third. */
@inline
export function lane2(v: v128): v128 {
  return v128.shuffle<i32>(v, v, 2, 2, 2, 2);
}

/** Four copies of the last. */
@inline
export function lane3(v: v128): v128 {
  return v128.shuffle<i32>(v, v, 3, 3, 3, 3);
}

@inline
export function toIntegers(at: usize, scale: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(at), scale)));
}

/** Converts 16 floats to bytes. */
@inline
export function toBytes(from: usize, scale: v128): v128 {
  const a = toIntegers(from, scale), b = toIntegers(from + 16, scale);
  const c = toIntegers(from + 32, scale), d = toIntegers(from + 48, scale);
  return i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}

/** The sums of each four of 16 bytes. */
@inline
export function sumsOf(bytes: v128): v128 {
  return i32x4.extadd_pairwise_i16x8_s(i16x8.extadd_pairwise_i8x16_s(bytes));
}

/** Transposes four rows of four words to rows that are `step` bytes apart. */
@inline
export function storeTurned(to: usize, step: usize, a: v128, b: v128, c: v128, d: v128): void {
  const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5), cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const ef = v128.shuffle<i32>(a, b, 2, 6, 3, 7), gh = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<i64>(ab, cd, 0, 2));
  v128.store(to + step, v128.shuffle<i64>(ab, cd, 1, 3));
  v128.store(to + 2 * step, v128.shuffle<i64>(ef, gh, 0, 2));
  v128.store(to + 3 * step, v128.shuffle<i64>(ef, gh, 1, 3));
}
