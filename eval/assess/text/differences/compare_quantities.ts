import type { Quantity } from "./quantity_cursor.ts";

/** A quantity in another unit is the same if it is as near as a rounded conversion comes. */
const CONVERSION = 0.02;

type QuantityKind = Quantity["kind"];

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
