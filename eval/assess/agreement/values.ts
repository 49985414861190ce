import { MONTHS, POWERS, type Unit, UNITS } from "./units.ts";

/** A value of a text: a number, perhaps with a unit, a time of day, a date or a code. */
export interface Value {
  /** As it stands in the text. */
  text: string;
  start: number;
  /** Values of different kinds are never equal; a `number` may equal an amount with any unit. */
  kind: string;
  /** Compares with a value of the same kind. */
  equals(other: Value): boolean;
  readonly amounts?: number[];
  readonly unit?: Unit | undefined;
  readonly parts?: (number | undefined)[];
  readonly code?: string;
}

/** Only this much of a longer text is read. */
const MAX_CHARACTERS = 20_000;

/** The number in front of a list item. */
const LIST_MARK = /^[ \t]*\(?\d{1,2}[.)][ \t]/gm;
const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const LETTERS = "\\p{L}\\p{M}";
const MONTH_NAME = `(?<month>[${LETTERS}]{3,12})\\.?`;
const DAY = "(?<day>\\d{1,2})(?:st|nd|rd|th|\\.|º|er)?";
const YEAR = "(?<year>\\d{4})";
const DATES = [
  `\\b${YEAR}-(?<number>\\d{2})-(?<day>\\d{2})\\b`,
  `\\b(?<day>\\d{1,2})\\.\\s?(?<number>\\d{1,2})\\.\\s?${YEAR}\\b`,
  `(?:${YEAR}\\s?年\\s?)?(?<number>\\d{1,2})\\s?月\\s?(?<day>\\d{1,2})\\s?[日号]`,
  `\\b${DAY} (?:of |de |d')?${MONTH_NAME}(?:,? (?:de )?${YEAR}\\b)?`,
  `(?<![${LETTERS}])${MONTH_NAME} (?:the )?${DAY}\\b(?!:)(?:,? ${YEAR}\\b)?`,
  `(?<![${LETTERS}])${MONTH_NAME} ${YEAR}\\b`,
].map((source) => new RegExp(source, "giu"));
const CLOCKS = [
  /\b(?<hour>\d{1,2})(?:[:.h](?<minute>\d{2}))?\s?(?<half>[ap])\.?m\b\.?/giu,
  /\b(?<hour>\d{1,2}):(?<minute>\d{2})(?!\d|:)/gu,
];
/** Letters and digits together, or digits in groups: an order, a flight, a phone number. */
const CODE =
  /(?<![\w-])(?=[\w-]*\d)(?:[A-Za-z]+-?\d[\w-]*|\d+[A-Za-z][\w-]*\d[\w-]*|\d{2,}(?:-\d{2,})+|v?\d+(?:\.\d+){2,})(?![\w-])/g;
const NUMBER =
  /(?<!\d)(?<sign>(?<![\w)])[-−])?(?<digits>\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)/gu;
const SIGN_BEFORE = /(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF))\s?$/iu;
const WORD_AFTER = new RegExp(`^[ -]?(°\\s?[CFcf]\\b|[%$€£¥₹]|[${LETTERS}]+)`, "u");

/** The values of a text, in order. */
export function readValues(text: string): Value[] {
  // What was read is blanked out: no digit counts twice, and positions do not change.
  let rest = text.slice(0, MAX_CHARACTERS).replace(LIST_MARK, (mark) => " ".repeat(mark.length));
  const values: Value[] = [];
  const take = (pattern: RegExp, read: (match: RegExpExecArray) => Value | undefined) => {
    for (const match of [...rest.matchAll(pattern)] as RegExpExecArray[]) {
      const value = read(match);
      if (!value) continue;
      values.push(value);
      const end = value.start + value.text.length;
      rest = rest.slice(0, value.start) + "\0".repeat(value.text.length) + rest.slice(end);
    }
  };
  take(EMAIL, codeOf);
  for (const pattern of DATES) take(pattern, dateOf);
  for (const pattern of CLOCKS) take(pattern, clockOf);
  take(CODE, (match) => isAmount(match[0]) ? undefined : codeOf(match));
  take(NUMBER, (match) => numberOf(match, rest));
  return values.sort((a, b) => a.start - b.start);
}

function codeOf({ 0: text, index: start }: RegExpExecArray): Value {
  const code = text.toLowerCase().replaceAll("-", "").replace(/^v(?=\d+\.)/, "");
  const shape = text.includes("@") ? "@" : code.replace(/[a-z_]+/g, "a").replace(/\d+/g, "9");
  return {
    text,
    start,
    kind: `code ${shape}`,
    code,
    equals: (other) => other.code === code,
  };
}

/** "5kg", "20min", "3k" and "21st" are not codes. */
function isAmount(text: string): boolean {
  const unit = /^\d+(\p{L}+)$/u.exec(text)?.[1]?.toLowerCase();
  return unit !== undefined &&
    (UNITS.has(unit) || POWERS.has(unit) || /^(st|nd|rd|th)$/.test(unit));
}

/** A part that one of two dates lacks, such as the year, is not compared. */
function sameParts(parts: (number | undefined)[], others: (number | undefined)[]): boolean {
  return parts.every((part, i) => (part ?? others[i]) === (others[i] ?? part));
}

function dateOf({ 0: text, index: start, groups }: RegExpExecArray): Value | undefined {
  const { year, month, number, day } = groups!;
  const named = month === undefined ? Number(number) : MONTHS.get(month.toLowerCase());
  if (named === undefined || named > 12 || Number(day ?? 1) > 31) return undefined;
  const parts = [year, named, day].map((part) => part === undefined ? undefined : Number(part));
  return {
    text: text.replace(/[\s.]+$/, ""),
    start,
    kind: "date",
    parts,
    equals: (other) => sameParts(parts, other.parts ?? []),
  };
}

function clockOf({ 0: text, index: start, groups }: RegExpExecArray): Value | undefined {
  const { hour, minute = "0", half } = groups!;
  let hours = Number(hour);
  if (hours > 24 || Number(minute) > 59) return undefined;
  if (half) hours = hours % 12 + (half.toLowerCase() === "p" ? 12 : 0);
  const parts = [hours, Number(minute), half || hours > 12 ? 1 : undefined];
  return {
    text: text.replace(/(?<!\.m)\.$/i, ""),
    start,
    kind: "time",
    parts,
    equals({ parts: [other, minutes, isKnown] = [] }) {
      const isSure = parts[2] !== undefined && isKnown !== undefined;
      const isSame = isSure ? hours === other : hours % 12 === other! % 12;
      return isSame && parts[1] === minutes;
    },
  };
}

function numberOf(match: RegExpExecArray, rest: string): Value {
  const { index, groups } = match;
  const { sign, digits } = groups!;
  let end = index + match[0].length;
  const before = SIGN_BEFORE.exec(rest.slice(Math.max(0, index - 5), index))?.[0];
  const start = index - (before?.length ?? 0);
  let factor = sign ? -1 : 1;
  let unit = before === undefined ? undefined : UNITS.get(before.trim().toLowerCase());
  const word = () => WORD_AFTER.exec(rest.slice(end, end + 30));
  const power = word();
  if (power && POWERS.has(power[1]!.toLowerCase())) {
    factor *= POWERS.get(power[1]!.toLowerCase())!;
    end += power[0].length;
  }
  const after = word();
  const named = after && UNITS.get(after[1]!.toLowerCase());
  if (after && named && (!unit || named.kind === unit.kind)) {
    unit = named;
    end += after[0].length;
  }
  const amounts = readings(digits!).map((value) => value * factor);
  return {
    text: rest.slice(start, end),
    start,
    kind: unit?.kind ?? "number",
    amounts,
    unit,
    equals: (other) => sameAmount({ amounts, unit }, other),
  };
}

/** 1.250 is 1250 in one country and 1.25 in another. */
function readings(digits: string): number[] {
  const plain = digits.replace(/['’ \u00a0\u202f]/g, "");
  const [last] = plain.match(/[.,](?=\d+$)/) ?? [];
  if (last === undefined) return [Number(plain)];
  const other = last === "." ? "," : ".";
  const decimal = Number(plain.replaceAll(other, "").replace(last, "."));
  const isGrouped = /^\d{1,3}(?:[.,]\d{3})+$/.test(plain);
  const grouped = Number(plain.replace(/[.,]/g, ""));
  const found = isGrouped ? [grouped, decimal] : [decimal];
  return found.filter(Number.isFinite).length > 0 ? found.filter(Number.isFinite) : [grouped];
}

/** A number without a unit equals the same number with any unit. */
function sameAmount(
  { amounts, unit }: { amounts: number[]; unit: Unit | undefined },
  other: Value,
): boolean {
  if (!other.amounts || unit?.currency !== other.unit?.currency && unit && other.unit) return false;
  const [own, its] = unit && other.unit ? [unit.convert, other.unit.convert] : [same, same];
  const isEqual = own !== its && ROUNDED.has(unit!.kind) ? isRounded : isNear;
  return amounts.some((a) => other.amounts!.some((b) => isEqual(own(a), its(b))));
}

const same = (value: number) => value;

/** Kinds that people convert between systems in round numbers: 5 miles, 8 km. */
const ROUNDED: Set<string> = new Set(["length", "mass", "volume", "temperature"]);

function isRounded(a: number, b: number): boolean {
  return Math.abs(a - b) <= 0.02 * Math.max(Math.abs(a), Math.abs(b));
}

function isNear(a: number, b: number): boolean {
  if (Math.abs(a - b) <= 0.001 * Math.max(Math.abs(a), Math.abs(b)) && !Number.isInteger(a * b)) {
    return true;
  }
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));
}
