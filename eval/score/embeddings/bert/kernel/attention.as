import {
  BYTE_PEAK, lane0, lane1, lane2, lane3, largest, madd, peakOf, storeTurned, sumsOf, toBytes,
  toIntegers, total, totalOf,
} from "./numbers";
import { multiplyTile } from "./products";

/** Added to 14-bit numbers to make them positive. */
const MIDDLE: i32 = 8192;
/** The highest 14-bit number. */
const HIGHEST: f32 = 16383;

/** For the exponential function: 1 / ln 2, −ln 2, the coefficients, and the least x. */
const EXP = memory.data<f32>([
  1.44269504, -0.693147181, 0.0083333333, 0.0416666667, 0.166666667, 0.5, 1, -87,
]);

/** Converts 8 floats to 16 bits. */
@inline
function toShorts(from: usize, factor: v128, offset: v128): v128 {
  const shorts = i16x8.narrow_i32x4_s(toIntegers(from, factor), toIntegers(from + 16, factor));
  return i16x8.add(shorts, offset);
}

/** The upper 7 of 14 bits. */
@inline
function upper(a: v128, b: v128): v128 {
  return i8x16.narrow_i16x8_s(i16x8.shr_u(a, 7), i16x8.shr_u(b, 7));
}

/** The lower 7. */
@inline
function lower(a: v128, b: v128): v128 {
  const mask = i16x8.splat(127);
  return i8x16.narrow_i16x8_s(v128.and(a, mask), v128.and(b, mask));
}

/**
 * Converts four rows to 14 bits, in the layout of `multiplyTile`. `factors` has one per row; that
 * of a row of zeros is infinite, and NaN becomes 0. `offset` makes negative numbers positive.
 */
@inline
function packHalves(
  from: usize, line: usize, to: usize, width: usize, factors: v128, offset: v128,
): void {
  const f0 = lane0(factors), f1 = lane1(factors), f2 = lane2(factors), f3 = lane3(factors);
  const plane = width << 2;
  for (const end = from + (width << 2); from < end; from += 64, to += 64) {
    const p1 = from + line, p2 = p1 + line, p3 = p2 + line;
    const a = toShorts(from, f0, offset), b = toShorts(from + 32, f0, offset);
    const c = toShorts(p1, f1, offset), d = toShorts(p1 + 32, f1, offset);
    const e = toShorts(p2, f2, offset), f = toShorts(p2 + 32, f2, offset);
    const g = toShorts(p3, f3, offset), h = toShorts(p3 + 32, f3, offset);
    storeTurned(to, 16, upper(a, b), upper(c, d), upper(e, f), upper(g, h));
    storeTurned(to + plane, 16, lower(a, b), lower(c, d), lower(e, f), lower(g, h));
  }
}

/** Converts four keys to bytes: four of 16 columns. Returns the sum of each. */
@inline
function packKeys(from: usize, line: usize, to: usize, depth: usize, factors: v128): v128 {
  const f0 = lane0(factors), f1 = lane1(factors), f2 = lane2(factors), f3 = lane3(factors);
  let s0 = i32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
  for (const end = from + (depth << 2); from < end; from += 64, to += 256) {
    const p1 = from + line, p2 = p1 + line, p3 = p2 + line;
    const a = toBytes(from, f0), b = toBytes(p1, f1), c = toBytes(p2, f2), d = toBytes(p3, f3);
    s0 = i32x4.add(s0, sumsOf(a)); s1 = i32x4.add(s1, sumsOf(b));
    s2 = i32x4.add(s2, sumsOf(c)); s3 = i32x4.add(s3, sumsOf(d));
    storeTurned(to, 64, a, b, c, d);
  }
  return i32x4(totalOf(s0), totalOf(s1), totalOf(s2), totalOf(s3));
}

/** Converts four values to bytes: four rows of every column. `block` is the step of 16 columns. */
@inline
function packValues(
  from: usize, line: usize, to: usize, block: usize, depth: usize, factors: v128,
): void {
  const f0 = lane0(factors), f1 = lane1(factors), f2 = lane2(factors), f3 = lane3(factors);
  for (const end = from + (depth << 2); from < end; from += 64, to += block) {
    const p1 = from + line, p2 = p1 + line, p3 = p2 + line;
    const a = toBytes(from, f0), b = toBytes(p1, f1), c = toBytes(p2, f2), d = toBytes(p3, f3);
    const ab = i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const cd = i8x16.shuffle(c, d, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const ef = i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const gh = i8x16.shuffle(c, d, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    v128.store(to, i16x8.shuffle(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11));
    v128.store(to, i16x8.shuffle(ab, cd, 4, 12, 5, 13, 6, 14, 7, 15), 16);
    v128.store(to, i16x8.shuffle(ef, gh, 0, 8, 1, 9, 2, 10, 3, 11), 32);
    v128.store(to, i16x8.shuffle(ef, gh, 4, 12, 5, 13, 6, 14, 7, 15), 48);
  }
}

/**
 * Converts the products of a query with all keys to shares: the weight of each value in the result,
 * times the scale of the value. `scale` has the scale of the query and is set to that of the
 * result. Returns the highest share.
 */
function softmax(
  row: usize, scale: usize, keyScales: usize, offsets: usize, valueScales: usize, length: usize,
  padded: usize,
): f32 {
  const end = row + (padded << 2), factor = v128.load32_splat(scale);
  for (let at = row; at < end; at += 16, offsets += 16, keyScales += 16) {
    const product = f32x4.convert_i32x4_s(i32x4.add(v128.load(at), v128.load(offsets)));
    v128.store(at, f32x4.mul(f32x4.mul(product, factor), v128.load(keyScales)));
  }
  for (let j = length; j < padded; j++) store<f32>(row + (j << 2), -1e30);
  let top = f32x4.splat(-1e30), sum = f32x4.splat(0), peak = sum;
  for (let at = row; at < end; at += 16) top = f32x4.pmax(top, v128.load(at));
  top = f32x4.splat(largest(top));
  const perLog = v128.load32_splat(EXP), log = v128.load32_splat(EXP, 4);
  const c5 = v128.load32_splat(EXP, 8), c4 = v128.load32_splat(EXP, 12);
  const c3 = v128.load32_splat(EXP, 16), c2 = v128.load32_splat(EXP, 20);
  const one = v128.load32_splat(EXP, 24), lowest = v128.load32_splat(EXP, 28);
  for (let at = row; at < end; at += 16, valueScales += 16) {
    // e^x for x ≤ 0, as a power of two times a polynomial.
    const x = f32x4.pmax(f32x4.sub(v128.load(at), top), lowest);
    const n = f32x4.nearest(f32x4.mul(x, perLog));
    const r = madd(n, log, x);
    const p = madd(madd(madd(madd(madd(c5, r, c4), r, c3), r, c2), r, one), r, one);
    const e = i32x4.add(p, i32x4.shl(i32x4.trunc_sat_f32x4_s(n), 23));
    const share = f32x4.mul(e, v128.load(valueScales));
    v128.store(at, share);
    sum = f32x4.add(sum, e);
    peak = f32x4.pmax(peak, share);
  }
  const most = largest(peak);
  store<f32>(scale, most / (HIGHEST * total(sum)));
  return most;
}

/** Converts whole numbers to floats in place. */
@inline
function toFloats(row: usize, scale: usize, depth: usize): void {
  const factor = v128.load32_splat(scale);
  for (const end = row + (depth << 2); row < end; row += 16) {
    v128.store(row, f32x4.mul(f32x4.convert_i32x4_s(v128.load(row)), factor));
  }
}

/**
 * Attention of the rows of one text to those of another, or to itself if `from` is `qkv`. Both are
 * f32 [rows][3 · width]: queries, keys and values, in heads of `depth` (a multiple of 16); `rows`
 * queries of `from` attend to `length` keys and values of `qkv`. `to` is [rows][width]. Up to three
 * rows past the ends are read, and overwritten with arbitrary values. `scratch` needs (4 · width +
 * 16 · heads + 24) · padded + 48 · heads bytes, where `padded` is the larger of `rows` and
 * `length`, rounded up to 16.
 */
export function attend(
  from: usize, rows: usize, qkv: usize, length: usize, to: usize, scratch: usize, width: usize,
  depth: usize, scale: f32,
): void {
  const padded = (length + 15) & ~15, heads = width / depth, column = padded << 2;
  const seeing = (rows + 15) & ~15, seeingColumn = seeing << 2;
  // For each head: queries as [seeing / 4][2][depth / 4][4][4], keys as
  // [padded / 16][depth / 4][16][4], and values as [depth / 16][padded / 4][16][4].
  const queries = scratch, keys = queries + 2 * width * seeing, values = keys + width * padded;
  const queryScales = values + width * padded, keyScales = queryScales + heads * seeingColumn;
  const offsets = keyScales + heads * column, valueScales = offsets + heads * column;
  const products = valueScales + heads * column, shares = products + 4 * column;
  const peaks = shares + 2 * column;
  const byteScale = f32x4.splat(1 / BYTE_PEAK), middle = i16x8.splat(<i16>MIDDLE);
  const queryPeak = f32x4.splat(<f32>MIDDLE - 1), bytePeak = f32x4.splat(BYTE_PEAK);
  const line = width * 12;

  for (let i: usize = 0; i < rows; i += 4) {
    storePeaks(from + i * line, line, peaks, heads, depth);
    for (let head: usize = 0; head < heads; head++) {
      const row = from + i * line + (head * depth << 2);
      const query = v128.load(peaks + (head << 4));
      const at = queries + 2 * depth * (head * seeing + i);
      packHalves(row, line, at, depth, f32x4.div(queryPeak, query), middle);
      const scales = f32x4.mul(query, f32x4.splat(scale / (<f32>MIDDLE - 1)));
      v128.store(queryScales + head * seeingColumn + (i << 2), scales);
    }
  }
  for (let i: usize = 0; i < length; i += 4) {
    storePeaks(qkv + i * line + (width << 2), line, peaks, 2 * heads, depth);
    for (let head: usize = 0; head < heads; head++) {
      const row = qkv + i * line + (width + head * depth << 2), block = head * padded * depth;
      const place = head * column + (i << 2), peak = peaks + (head << 4);

      const key = v128.load(peak);
      const at = keys + block + (i & ~15) * depth + ((i & 15) << 2);
      const sums = packKeys(row, line, at, depth, f32x4.div(bytePeak, key));
      v128.store(keyScales + place, f32x4.mul(key, byteScale));
      v128.store(offsets + place, i32x4.mul(sums, i32x4.splat(-MIDDLE)));

      const value = v128.load(peak + (heads << 4));
      packValues(
        row + (width << 2), line, values + block + (i << 4), padded << 4, depth,
        f32x4.div(bytePeak, value),
      );
      v128.store(valueScales + place, f32x4.mul(value, byteScale));
    }
  }

  for (let head: usize = 0; head < heads; head++) {
    const block = head * padded * depth, place = head * column;
    const k = keyScales + place, o = offsets + place, v = valueScales + place;
    for (let j = length; j < padded; j++) store<f32>(v + (j << 2), 0);
    for (let i: usize = 0; i < rows; i += 4) {
      for (let j: usize = 0; j < padded; j += 16) {
        const query = queries + 2 * depth * (head * seeing + i);
        multiplyTile(query, keys + block + j * depth, products + (j << 2), column, depth);
      }
      const scales = queryScales + head * seeingColumn + (i << 2);
      for (let r: usize = 0; r < 4; r++) {
        const row = products + r * column;
        store<f32>(peaks + (r << 2), softmax(row, scales + (r << 2), k, o, v, length, padded));
      }
      const factors = f32x4.div(f32x4.splat(HIGHEST), v128.load(peaks));
      packHalves(products, column, shares, padded, factors, i16x8.splat(0));
      const out = to + (i * width + head * depth << 2);
      for (let d: usize = 0; d < depth; d += 16) {
        multiplyTile(shares, values + block + d * padded, out + (d << 2), width << 2, padded);
      }
      for (let r: usize = 0; r < 4; r++) toFloats(out + r * (width << 2), scales + (r << 2), depth);
    }
  }
}

/** The peaks of four rows, each of `parts` heads: stored as [parts][4 rows]. */
@inline
function storePeaks(from: usize, line: usize, to: usize, parts: usize, depth: usize): void {
  for (let r: usize = 0; r < 4; r++) { // row by row, in the order of memory
    let row = from + r * line, at = to + (r << 2);
    for (const end = row + (parts * depth << 2); row < end; row += depth << 2, at += 16) {
      store<f32>(at, peakOf(row, depth));
    }
  }
}
