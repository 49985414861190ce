import { madd, total } from "./numbers";

/** The polynomial of Φ. Loaded once per call: constants in the code would be created for each x. */
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
    const size = i32x4.min_s(f32x4.abs(v), f32x4.splat(3.9)); // integers have the same order
    const z = v128.or(size, v128.and(v, f32x4.splat(-0.0)));
    const u = f32x4.mul(size, size);
    let p = madd(madd(c0, u, c1), u, c2);
    p = madd(madd(p, u, c3), u, c4);
    p = madd(madd(p, u, c5), u, c6);
    v128.store(x, f32x4.mul(v, madd(p, z, f32x4.splat(0.5))));
  }
}

/** x = LayerNorm(x + added) · gain + bias, row by row; an `added` of 0 means none. */
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
