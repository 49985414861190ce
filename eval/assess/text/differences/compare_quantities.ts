import { LONG_ROUNDING } from "../../../../shared/rounding.ts";
import type { Quantity } from "./quantity_cursor.ts";
import type { Token } from "./tokens.ts";

/** A quantity in another unit is the same if it is as near as a rounded conversion comes. */
const CONVERSION = 0.02;

type QuantityKind = Quantity["kind"];

/** A text as far as its quantities go. */
interface MeasuredText {
  quantities: Quantity[];
  tokens: readonly Token[];
}

/**
 * The kinds of quantities in which two texts differ: each has one that the other has not. One that
 * only one of them mentions is more or less detail, not a difference.
 */
export function compareQuantities(left: Quantity[], right: Quantity[]): Set<QuantityKind> {
  const found = new Set<QuantityKind>();
  const alone = unmatched(left, right);
  if (alone.length === 0) return found;
  const others = unmatched(right, left);
  for (const one of alone) {
    for (const other of others) {
      const kind = differ(one, other);
      if (kind) found.add(kind);
    }
  }
  return found;
}

/**
 * Whether a reply says the only quantity of a reference without words; one without words says nothing
 * else. Of several, as in a score of 2-1, the order counts, and 08:30 and 03/05 have two readings: all
 * these are left to the digits.
 */
export function saysOnly(reply: MeasuredText, reference: MeasuredText): boolean {
  const { quantities: wanted } = reference;
  if (!isSingle(wanted) || !wanted.every(isSure)) return false;
  const words = reply.tokens.filter(({ type }) => type === "word").length;
  // "One" is a number if it is the whole reply; in "no one knows" it is none.
  const given = reply.quantities.filter(({ kind, isSoft, isOrdinal }) =>
    !isOrdinal && (!isSoft || kind === "date" || words <= 1)
  );
  return wanted.every((part) => given.some((one) => isSure(one) && isSaid(part, one))) &&
    (words > 0 || given.length === wanted.length);
}

/** A date is one, too, although it has a day and a year. */
function isSingle(quantities: Quantity[]): boolean {
  const parts = new Set(quantities.map(({ part }) => part));
  const isDate = quantities.every(({ kind }) => kind === "date") &&
    parts.size === quantities.length;
  return quantities.length === 1 || (quantities.length > 1 && isDate);
}

function isSure({ values }: Quantity): boolean {
  return values.length === 1;
}

/** Kinds whose mark may be left out: 5 for $5. */
const COUNTABLE = new Set<QuantityKind>(["number", "unit", "money"]);

function isSaid(one: Quantity, other: Quantity): boolean {
  const isAlike = one.kind === other.kind ||
    (COUNTABLE.has(one.kind) && COUNTABLE.has(other.kind));
  return isAlike && (agree(one, other) || isShare(one, other) || isShare(other, one));
}

/** 25 % and 0.25. */
function isShare(one: Quantity, other: Quantity): boolean {
  if (one.unit?.dimension !== "percent" || other.kind !== "number") return false;
  return other.values.some((value) => Math.abs(value * 100 - one.values[0]!) < LONG_ROUNDING);
}

function unmatched(quantities: Quantity[], others: Quantity[]): Quantity[] {
  return quantities.filter((one) => !one.isSoft && !others.some((other) => agree(one, other)));
}

function agree(one: Quantity, other: Quantity): boolean {
  if (one.kind !== other.kind) {
    // A plain number may be any of them with its unit left out.
    return (one.kind === "number" || other.kind === "number") && overlap(one, other);
  }
  if (one.part !== other.part) return false;
  if (one.kind === "money") return shareCurrency(one, other) && overlap(one, other);
  if (one.kind === "unit" && one.unit!.name !== other.unit!.name) {
    if (one.unit!.dimension !== other.unit!.dimension) {
      return isScaleLeftOut(one, other) && overlap(one, other);
    }
    return near(one.values[0]! * one.unit!.factor, other.values[0]! * other.unit!.factor);
  }
  return overlap(one, other);
}

/** "15 degrees" and "15 °C". */
function isScaleLeftOut({ unit: one }: Quantity, { unit: other }: Quantity): boolean {
  const dimensions = [one!.dimension, other!.dimension];
  return dimensions.includes("degree") && dimensions.includes("temperature");
}

/** The kind in which two quantities differ that agree with nothing; `undefined`: not comparable. */
function differ(one: Quantity, other: Quantity): QuantityKind | undefined {
  if (one.kind !== other.kind || one.part !== other.part) return undefined;
  if (one.kind !== "unit") return one.kind;
  if (one.unit!.name === other.unit!.name) return "number";
  if (overlap(one, other)) return "unit";
  return one.unit!.dimension === other.unit!.dimension ? "number" : undefined;
}

function overlap(one: Quantity, other: Quantity): boolean {
  return one.values.some((value) => other.values.includes(value));
}

function shareCurrency({ currencies: one = [] }: Quantity, { currencies: other = [] }: Quantity) {
  return one.some((code) => other.includes(code));
}

function near(one: number, other: number): boolean {
  return Math.abs(one - other) <= CONVERSION * Math.max(Math.abs(one), Math.abs(other));
}
