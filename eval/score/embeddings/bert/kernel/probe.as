/**
 * Whether the products of bytes are added in pairs of 16 bits, saturated at 32,767: then the engine
 * has no instruction that adds four. The standard allows different results for these bytes.
 */
export function addsInPairs(): bool {
  const sums = i32x4.relaxed_dot_i8x16_i7x16_add_s(
    i8x16.splat(127), i8x16.splat(-1), i32x4.splat(0),
  );
  return i32x4.extract_lane(sums, 0) == 2 * 32767;
}
