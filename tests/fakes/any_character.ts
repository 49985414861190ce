import fc from "seeded-fast-check";

/** The number of surrogates, which are not characters. */
const HALVES = 0x800;
const FIRST_HALF = 0xd800;

/**
 * Any character, as a `unit` of `fc.string`. `unit: "binary"` is the same, but takes a second in
 * each file that uses it.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - HALVES })
  .map((at) => String.fromCodePoint(at < FIRST_HALF ? at : at + HALVES), toNumber);

/** The way back, by which fast-check finds out that it may use names such as `__proto__`. */
function toNumber(character: unknown): number {
  const point = typeof character === "string" ? character.codePointAt(0) : undefined;
  const isWhole = point !== undefined && String.fromCodePoint(point) === character;
  if (!isWhole || (point >= FIRST_HALF && point < FIRST_HALF + HALVES)) {
    throw new Error("not one character");
  }
  return point < FIRST_HALF ? point : point - HALVES;
}
