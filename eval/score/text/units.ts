// Names of `Intl` in eighteen languages, and usual ones that it lacks: reading them from `Intl` adds
// 200 ms to a cold start.
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
  | "dozen"
  | "money";

export interface Unit {
  kind: UnitKind;
  /** Converts to the base unit of the kind. Different currencies are not comparable. */
  convert(value: number): number;
  /** The relative difference that two amounts in different units may have. */
  rounding: number;
  currency?: string;
  /** 50% is also the number 0.5. */
  isPure?: boolean;
}

const by = (kind: UnitKind, factor: number, rounding = 0.001): Unit => (
  { kind, convert: (value) => value * factor, rounding }
);
const money = (currency: string): Unit => ({ ...by("money", 1), currency });
/** For kinds that people convert in round numbers: 5 miles are 8 km, 3 months are 90 days. */
const ROUND = 0.02;

const MONTH = 30.4375 * 86_400;

/** By their names in `Intl`. */
const NAMED: Record<string, Unit> = {
  kilometer: by("length", 1000, ROUND),
  meter: by("length", 1, ROUND),
  centimeter: by("length", 0.01, ROUND),
  millimeter: by("length", 0.001, ROUND),
  mile: by("length", 1609.344, ROUND),
  foot: by("length", 0.3048, ROUND),
  yard: by("length", 0.9144, ROUND),
  kilogram: by("mass", 1000, ROUND),
  gram: by("mass", 1, ROUND),
  ounce: by("mass", 28.349523, ROUND),
  liter: by("volume", 1, ROUND),
  milliliter: by("volume", 0.001, ROUND),
  gallon: by("volume", 3.785412, ROUND),
  second: by("duration", 1),
  minute: by("duration", 60),
  hour: by("duration", 3600),
  day: by("duration", 86_400),
  week: by("duration", 604_800),
  month: by("duration", MONTH, ROUND),
  year: by("duration", 12 * MONTH, ROUND),
  celsius: by("temperature", 1, ROUND),
  fahrenheit: { ...by("temperature", 1, ROUND), convert: (value) => (value - 32) / 1.8 },
  byte: by("data", 1),
  kilobyte: by("data", 1e3),
  megabyte: by("data", 1e6),
  gigabyte: by("data", 1e9),
  terabyte: by("data", 1e12),
  percent: { ...by("percent", 0.01), isPure: true },
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
  percent: "%|per cent",
};

/** Units without a name above. Two names are two units: amounts may differ by their rounding. */
const OTHERS: Record<string, Unit> = {
  mg: by("mass", 0.001, ROUND),
  milligrams: by("mass", 0.001, ROUND),
  lb: by("mass", 453.59237, ROUND),
  lbs: by("mass", 453.59237, ROUND),
  dozen: { ...by("dozen", 12), isPure: true },
  // Of a dollar or a euro.
  cent: by("money", 0.01),
  cents: by("money", 0.01),
  "¢": by("money", 0.01),
  // Of yen and yuan.
  "¥": by("money", 1),
};

/** Every name of a unit, in lower case. */
export const UNITS: Map<string, Unit> = new Map([
  ...[...read(names.units), ...read(SPELLINGS)].map(([name, unit]) =>
    [name, NAMED[unit]!] as const
  ),
  ...Object.entries(OTHERS),
  ...read(names.currencies).map(([name, code]) => [name, money(code)] as const),
]);
/** Every name of a power of ten, such as "million" and "k". */
export const POWERS: Map<string, number> = new Map(readNumbers(names.powers));
/** After an amount of money only: 3 m are metres. */
export const MONEY_POWERS: Map<string, number> = new Map([["m", 1e6], ["b", 1e9], ["t", 1e12]]);
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
