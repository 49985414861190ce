// Unit names of `Intl` in eighteen languages: reading them from `Intl` adds 200 ms to a cold start.
import names from "./unit_names.json" with { type: "json" };

/** Kinds of quantities. Units of the same kind can be converted into each other. */
type UnitKind =
  | "length"
  | "mass"
  | "volume"
  | "duration"
  | "temperature"
  | "data"
  | "percent"
  | "money";

export interface Unit {
  kind: UnitKind;
  /** Converts to the base unit of the kind. Different currencies are not comparable. */
  convert(value: number): number;
  currency?: string;
}

const by = (kind: UnitKind, factor: number): Unit => ({ kind, convert: (value) => value * factor });
const money = (currency: string): Unit => ({ kind: "money", convert: (value) => value, currency });

const MONTH = 30.4375 * 86_400;

/** By their names in `Intl`. */
const NAMED: Record<string, Unit> = {
  kilometer: by("length", 1000),
  meter: by("length", 1),
  centimeter: by("length", 0.01),
  millimeter: by("length", 0.001),
  mile: by("length", 1609.344),
  foot: by("length", 0.3048),
  yard: by("length", 0.9144),
  kilogram: by("mass", 1000),
  gram: by("mass", 1),
  ounce: by("mass", 28.349523),
  liter: by("volume", 1),
  milliliter: by("volume", 0.001),
  gallon: by("volume", 3.785412),
  second: by("duration", 1),
  minute: by("duration", 60),
  hour: by("duration", 3600),
  day: by("duration", 86_400),
  week: by("duration", 604_800),
  month: by("duration", MONTH),
  year: by("duration", 12 * MONTH),
  celsius: by("temperature", 1),
  fahrenheit: { kind: "temperature", convert: (value) => (value - 32) / 1.8 },
  byte: by("data", 1),
  kilobyte: by("data", 1e3),
  megabyte: by("data", 1e6),
  gigabyte: by("data", 1e9),
  terabyte: by("data", 1e12),
  percent: by("percent", 1),
};

/** Symbols and spellings that `Intl` lacks, of the units above. */
const SPELLINGS: Record<string, string> = {
  kilometer: "km|kilometre|kilometres",
  meter: "m|metre|metres",
  centimeter: "cm",
  millimeter: "mm",
  kilogram: "kg|kilo|kilos",
  gram: "g",
  ounce: "oz",
  liter: "l|litre|litres",
  milliliter: "ml",
  hour: "h|hrs",
  minute: "min|mins",
  second: "sec",
  celsius: "°c|° c",
  fahrenheit: "°f|° f",
  kilobyte: "kb",
  megabyte: "mb",
  gigabyte: "gb",
  terabyte: "tb",
  percent: "%",
};

/** Units without a name above. Two names are two units: amounts may differ by their rounding. */
const OTHERS: Record<string, Unit> = {
  mg: by("mass", 0.001),
  milligrams: by("mass", 0.001),
  lb: by("mass", 453.59237),
  lbs: by("mass", 453.59237),
};

/** By their codes. */
const CURRENCIES: Record<string, string> = {
  USD: "$|usd|dollar|dollars",
  EUR: "€|eur|euro|euros",
  GBP: "£|gbp|pounds",
  JPY: "¥",
  INR: "₹",
  CHF: "chf",
};

/** Every name of a unit, in lower case. */
export const UNITS: Map<string, Unit> = new Map([
  ...[...read(names.units), ...read(SPELLINGS)].map(([name, unit]) =>
    [name, NAMED[unit]!] as const
  ),
  ...Object.entries(OTHERS),
  ...read(CURRENCIES).map(([name, code]) => [name, money(code)] as const),
]);
/** Every name of a power of ten, such as "million". */
export const POWERS: Map<string, number> = new Map([["k", 1000], ...readNumbers(names.powers)]);
/** Every name of a month, as 1 to 12. */
export const MONTHS: Map<string, number> = new Map(readNumbers(names.months));

function read(table: Record<string, string>): [name: string, meaning: string][] {
  return Object.entries(table).flatMap(([meaning, names]) =>
    names.split("|").map((name): [string, string] => [name, meaning])
  );
}

function readNumbers(table: Record<string, string>): [name: string, value: number][] {
  return read(table).map(([name, value]) => [name, Number(value)]);
}
