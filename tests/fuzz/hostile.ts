import fc from "seeded-fast-check";
import { anyCharacter } from "../fakes/any_character.ts";

/** Values that a caller may send instead of valid ones. */

export const anything = fc.anything({ maxDepth: 2, maxKeys: 3, withNullPrototype: true });
/** Characters that break parsers, encoders and databases; `anyCharacter` has no lone surrogates. */
const ODD = [..."%&=+'\"<>\\/?#é𝒳", "\ud800", "\udc00", "\0", "\r", "\n", "\u2028", "\ufeff"];
export const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...ODD), maxLength: 8 }),
);
export const leaf = fc.oneof(
  anything,
  text,
  fc.constantFrom("human", "user", "assistant", "tool", "", null, true, 0, -1, 1e308),
);

/** Other values cannot be sent by any client. */
export function isHeaderValue(value: string): boolean {
  try {
    new Headers({ x: value });
    return true;
  } catch {
    return false;
  }
}

export const headerValue = fc.oneof(text, fc.string({ unit: "grapheme-ascii", maxLength: 300 }))
  .filter(isHeaderValue);

/** JSON of these values, and broken JSON: cut off, or with a few characters replaced. */
export function bodies(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const whole = values.map((value) => JSON.stringify(value, replaceBigInt) ?? "undefined");
  const broken = fc.tuple(whole, fc.nat(), fc.string({ maxLength: 3 }))
    .map(([body, at, put]) => body.slice(0, at % (body.length + 1)) + put);
  return fc.oneof({ weight: 4, arbitrary: whole }, { weight: 1, arbitrary: broken });
}

/** A segment of a path: one of `known`, escapes, `..`, or invalid UTF-8. */
export function pathPart(known: string[]): fc.Arbitrary<string> {
  return fc.oneof(
    ...(known.length > 0 ? [fc.constantFrom(...known)] : []),
    text.map((part) => encodeURIComponent(part.toWellFormed())),
    fc.constantFrom("..", "%2e%2e", "%2F", "%00", "%ff", "%", "'", "x".repeat(5000), "__proto__"),
  );
}

/** The query of an address: some of the parameters, some twice, some unknown. */
export function query(parameters: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<string> {
  const pair = fc.oneof(
    ...Object.entries(parameters).map(([name, values]) =>
      fc.oneof({ weight: 3, arbitrary: values }, { weight: 1, arbitrary: text })
        .map((value) => [name, value] as const)
    ),
    fc.tuple(text, text),
  );
  const encoded = fc.array(pair, { maxLength: 5 })
    .map((pairs) => new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString());
  const raw = fc.string({ unit: fc.constantFrom("%", "&", "=", "f", "0", "+"), maxLength: 8 });
  return fc.oneof({ weight: 9, arbitrary: encoded }, { weight: 1, arbitrary: raw });
}

const replaceBigInt = (_key: string, value: unknown) =>
  typeof value === "bigint" ? Number(value) : value;
