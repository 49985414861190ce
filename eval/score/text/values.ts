import { MONEY_POWERS, MONTHS, POWERS, type Unit, UNITS } from "./units.ts";

/** A number, perhaps with a unit, a date, a time of day, a range or a code. */
export interface Value {
  /** As it stands in the text, with its unit. */
  text: string;
  start: number;
  end: number;
  /** `number`, `date`, `time`, `ordinal`, the kind of a unit, or `code` with the code's shape. */
  kind: string;
  /** In a canonical form, such as `2024-03-05`: equal for values that are written differently. */
  digits: string;
  /** Possible readings, the likeliest first. None of a date, a code, or a number such as 0042. */
  amounts?: number[];
  unit?: Unit | undefined;
  /** The seconds for which the amount is: of "a month" in "$10 a month". */
  per?: number | undefined;
  /** The name before a number, as in "Python 3.10". */
  name?: string | undefined;
  /** Of a date and a time. A part that one of two values lacks is not compared. */
  parts?: (number | undefined)[];
  /** The two numbers of a range. */
  ends?: Value[];
  isSpelled?: boolean;
}

/** A hyphen, dash or minus sign before a digit or a currency. */
const DASH = /[\u2010\u2011\u2013\u2212](?=\s?[$€£¥₹₽₴₺₩₫]?\d)/gu;
/** Thousands separated by points: `1.234.567`. */
const POINTED = /(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?!\d|\.\d)/g;
/** Thousands separated by blanks: `1 234 567`. Not a part of a phone number: `+1 555 123 4567`. */
const SPACED = /(?<![\d.,+]|\d |\) ?)[1-9]\d{0,2}(?: \d{3})+(?! ?\d)/g;
/** A point at the start of a number: `.5`. */
const BARE_POINT = /(?<![\p{L}\d.,:/])\.(?=\d)/gu;
/** Calculations in OpenAI's grade-school solutions: `48/2 = <<48/2=24>>24`. */
const CALCULATOR = /<<[^<>\n]*>>/g;

/**
 * Normalises digits and dashes, and removes LaTeX markup. Values are read in such a text. If
 * `joined`, `1 234` is one number.
 */
export function plainNumbers(text: string, { joined = true } = {}): string {
  const plain = asciiDigits(joinGroups(text).normalize("NFKC")).replace(DASH, "-")
    .replace(CALCULATOR, "")
    .replace(/\\[dt]?frac\{(\d+)\}\{(\d+)\}/g, "$1/$2")
    .replace(/\\(?:text|mathrm|mathbf)\{([^{}]*)\}/g, "$1")
    .replace(/\{,\}|\\[,;! ]/g, (mark) => mark === "{,}" ? "," : " ")
    .replace(/\\([$%])/g, "$1")
    .replace(POINTED, (number) => number.replaceAll(".", ""))
    .replace(BARE_POINT, "0.");
  return joined ? plain.replace(SPACED, (number) => number.replaceAll(" ", "")) : plain;
}

const SMALL = ("zero one two three four five six seven eight nine ten eleven twelve thirteen " +
  "fourteen fifteen sixteen seventeen eighteen nineteen").split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: Record<string, number> = {
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};
const WORD_VALUES = new Map<string, number>([
  ...SMALL.map((word, value): [string, number] => [word, value]),
  ...TENS.map((word, index): [string, number] => [word, 20 + 10 * index]),
]);
const SCALE = `(?:${Object.keys(SCALES).join("|")})`;
const BELOW_100 = `(?:(?:${TENS.join("|")})(?:[- ](?:${SMALL.slice(1, 10).join("|")}))?|${
  SMALL.toReversed().join("|")
})`;
const BELOW_1000 = `(?:(?:${BELOW_100}|a) hundred(?:(?: and)? ${BELOW_100})?|${BELOW_100})`;
/** English number words, including `a dozen`; no ordinals and no fractions. */
const WORDS = `(?<!\\p{L})(?:(?:minus|negative) )?(?:a dozen|(?:${BELOW_1000}|a) ${SCALE}` +
  `(?:,?(?: and)? ${BELOW_1000}(?: ${SCALE})?)*|${BELOW_1000})(?!\\p{L})` +
  "(?!-| (?:thirds?|fifths?|quarters?|halves|half)\\b)";
/** Matches "one" as a number, at the end of a clause, but not in "no one" and "one of them". */
const PRONOUN = /(?<!\b(?:no|any|every|some|each|this|that|which|the) )one(?!\s?\p{L})/iu;

const MONTH = `(?<month>${[...MONTHS.keys()].sort((a, b) => b.length - a.length).join("|")})\\.?`;
const DAY_NUMBER = "(?<day>0?[1-9]|[12]\\d|3[01])";
const DAY = `${DAY_NUMBER}(?:st|nd|rd|th|\\.|º|er)?`;
const MONTH_NUMBER = "(?<number>0?[1-9]|1[0-2])";
const YEAR = "(?<year>\\d{4})";
const LETTER = "[\\p{L}\\p{M}]";
const DATES = [
  `\\b${YEAR}-${MONTH_NUMBER}-${DAY_NUMBER}(?![\\d-])`,
  `(?<!\\d)${DAY_NUMBER}\\.\\s?${MONTH_NUMBER}\\.\\s?${YEAR}(?!\\d)`,
  `(?:${YEAR}\\s?[年년]\\s?)?(?<!\\d)${MONTH_NUMBER}\\s?[月월]\\s?${DAY_NUMBER}\\s?[日号號일]`,
  `(?<!\\d)${DAY} (?:of |de |d')?${MONTH}(?!${LETTER})(?:,? (?:de )?${YEAR}(?!\\d))?`,
];
const NAMED_DATES = [
  `${MONTH} (?:the )?${DAY}(?![\\d:.,]*\\d)(?:,? ${YEAR}(?!\\d))?`,
  `${MONTH} ${YEAR}(?!\\d)`,
].map((source) => `(?=${LETTER}{3,12}\\.? (?:the )?\\d)${source}`);
const HOUR = "(?<hour>[01]?\\d|2[0-4])";
const MINUTE = "(?<minute>[0-5]\\d)";
const EASTERN_CLOCK = `${HOUR}[時时点點시](?![間间간半])(?:\\s?${MINUTE}[分분])?`;
const CLOCKS = [
  `(?<!\\d)${HOUR}(?:[:.h]${MINUTE})?\\s?(?<half>[ap])(?:m\\b|\\.m\\b\\.?)`,
  `(?<![\\d:])${HOUR}:${MINUTE}(?![\\d:/-]*\\d)`,
  `(?<![\\d.,:])${HOUR}(?:[:.]${MINUTE})? ?Uhr(?!${LETTER})`,
  `(?<![\\d.,:])${HOUR} ?h ?${MINUTE}(?![\\d\\p{L}])`,
  `(?<=(?:^|[^\\p{L}])(?:à|vers|dès|às) )${HOUR} ?h(?![\\d\\p{L}])`,
  `(?<!\\d)${EASTERN_CLOCK}`,
];
const PHONES = [
  "\\+\\d(?:[ ./()-]{0,2}\\d){6,14}",
  "\\(0?\\d{1,5}\\)(?:[ ./-]{0,2}\\d){4,10}",
  "(?<![\\d.,])0\\d{1,4}[ /-]\\d(?: ?\\d){5,9}",
  "(?<![\\d.,])\\d{3}[ .-]\\d{3}[ .-]\\d{4}",
  "(?<![\\d.,-])\\d{3}-\\d{4}",
].map((source) => `${source}(?!\\w|[.,-]\\d)`);
const VERSION_WORD =
  "version|versión|versione|versão|wersja|версия|版本|バージョン|버전|release|section|chapter|§";
/** Codes in which 2.10 is not 2.1. */
const VERSIONS =
  `(?:(?<![\\w.])v|(?<=(?:${VERSION_WORD})[.:]?\\s?)v?)(?<version>\\d+(?:\\.\\d+)+)` +
  "|(?<![\\w.])(?<version>\\d+(?:\\.\\d+){2,})(?![,:/-]?\\d)";
/** Letters and digits together: an order, a flight. */
const CODE =
  "(?<![\\w-])(?!\\d+e\\d+\\b)(?:[A-Za-z]+-?\\d[\\w-]*|\\d+[A-Za-z][\\w-]*\\d[\\w-]*)(?![\\w-])";
/** Not after another number or word: `48-24` does not contain `-24`. */
const SIGN = "(?:(?<![^\\s(*:$€£¥₹₽₴₺₩₫=])-|(?<=[=(]\\s)-\\s?)?";
const NUMBER =
  `(?<sign>${SIGN})(?:(?<before>(?:\\bUS)?[$€£¥₹₽₴₺₩₫]|\\b(?:USD|EUR|GBP|CHF|JPY|INR)\\b)[*_]{0,3}\\s?)?` +
  `(?<sign2>${SIGN})(?<!\\d)` +
  "(?<digits>(?:\\d{1,3}(?:[,.]\\d{3})+(?:[.,]\\d+)?|\\d+(?:[.,]\\d+)?|\\d+\\/[1-9]\\d*)" +
  "(?![.,:/-]?\\d)|\\d+(?:[.,:/-]\\d+)+)" +
  "(?:e(?<power>[+-]?\\d+)\\b|\\s?[×x*]\\s?10\\^\\{?(?<power>-?\\d+)\\}?)?(?<th>(?:st|nd|rd|th)\\b)?";
/** Each alternative names its own groups. What follows at a place is looked at before what precedes. */
const VALUE = new RegExp(
  [
    "(?<![\\w.+-])(?<email>[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+)",
    `(?=\\d)(?:${[...DATES, ...CLOCKS].join("|")})`,
    `(?=[上下早晚午오])(?<half>上午|下午|早上|晚上|午前|午後|오전|오후)\\s?${EASTERN_CLOCK}`,
    `(?=\\p{L})(?<!${LETTER})(?:${NAMED_DATES.join("|")})`,
    `(?=[\\d+(])(?<phone>${PHONES.join("|")})`,
    `(?=v?\\d)(?:${VERSIONS})`,
    `(?=[a-z\\d])(?<code>${CODE})`,
    `(?=[-\\d$€£¥₹₽₴₺₩₫]|US\\$|USD|EUR|GBP|CHF|JPY|INR)${NUMBER}`,
    `(?=[a-z])(?<words>${WORDS})`,
  ].join("|"),
  "giu",
);
/** The number in front of a list item, in a list that begins with 1. */
const LIST_MARK = /^[ \t]*\(?\d{1,2}[.)][ \t]/gm;
const LIST_START = /^[ \t]*\(?1[.)][ \t]/m;

/** The values of a text from `plainNumbers`, in order. */
export function readValues(text: string): Value[] {
  const read = LIST_START.test(text)
    ? text.replace(LIST_MARK, (mark) => " ".repeat(mark.length))
    : text;
  const values = [...read.matchAll(VALUE)].flatMap((match) => valueOf(match, read) ?? []);
  for (const [i, value] of values.entries()) {
    const { start, unit, kind, per } = values[i + 1] ?? {};
    if (value.kind === "number" && unit && SHARES.test(text.slice(value.end, start))) {
      Object.assign(value, { unit, kind, per });
    }
  }
  return values;
}

/** Between two numbers with one unit: "2 to 3 days". */
const SHARES =
  /^ (?:to|or|and|bis|oder|und|à|a|ou|et|o|u|y|e|tot|of|en|till|eller|och|do|lub|i|до|или|и) $/i;

function valueOf(match: RegExpExecArray, text: string): Value | undefined {
  const { 0: found, index: start } = match;
  const groups: Groups = match.groups!;
  const { email, month, number, hour, phone, version, code, words, digits } = groups;
  const place = { text: found, start, end: start + found.length };
  if (month !== undefined || number !== undefined) return dateOf(place, groups);
  if (hour !== undefined) return clockOf(place, groups);
  if (phone !== undefined) return codeOf(place, phone.replace(/\D/g, ""));
  if (version !== undefined) {
    const isLong = version.split(".").length > 2;
    return isLong ? codeOf(place, version) : { ...place, kind: "number", digits: version };
  }
  if (email !== undefined || code !== undefined) {
    return codeOf(place, email?.toLowerCase() ?? code!.toLowerCase().replaceAll("-", ""));
  }
  if (digits !== undefined) return numberOf(place, groups, text);
  const isOne = words!.toLowerCase() === "one";
  if (isOne && !PRONOUN.test(text.slice(Math.max(0, start - 8), place.end + 2))) return undefined;
  const amount = valueOfWords(words!.toLowerCase());
  return { ...amountAt(place, [amount], { text, digits: String(amount) }), isSpelled: true };
}

type Place = Pick<Value, "text" | "start" | "end">;
type Groups = Record<string, string | undefined>;

function codeOf(place: Place, digits: string): Value {
  const shape = digits.replace(/[a-z_]+/g, "a").replace(/\d+/g, "9");
  return { ...place, kind: digits.includes("@") ? "code @" : `code ${shape}`, digits };
}

function dateOf({ text, start }: Place, { year, month, number, day }: Groups): Value {
  const plain = text.replace(/[\s.]+$/, "");
  const named = month === undefined ? number : MONTHS.get(month.toLowerCase());
  const parts = [year, named, day].map((part) => part === undefined ? undefined : Number(part));
  const digits = parts.map((part) => part ?? "").join("-");
  return { text: plain, start, end: start + plain.length, kind: "date", digits, parts };
}

/** The second half of a day. */
const LATE = /^(?:p|下午|晚上|午後|오후)/iu;

/** A time of day without "am" or "pm" may be either, unless it is after twelve, or begins with 0. */
function clockOf(place: Place, { hour, minute = "0", half }: Groups): Value {
  const isSure = half !== undefined || Number(hour) > 12 || hour!.startsWith("0");
  const inHalf = Number(hour) % 12;
  const isLate = half ? LATE.test(half) : Number(hour) >= 12;
  const parts = [inHalf, Number(minute), isSure ? Number(isLate) : undefined];
  return { ...place, kind: "time", digits: parts.join(":"), parts };
}

function numberOf(place: Place, groups: Groups, text: string): Value {
  const { before, power, th } = groups;
  const written = groups.digits!;
  if (th) return { ...place, kind: "ordinal", digits: `${written}th` };
  const sign = groups.sign || groups.sign2 ? -1 : 1;
  const range = /^(\d+)-(\d+)$/.exec(written);
  if (range && Number(range[1]) < Number(range[2]) && !/^0|-0/.test(written)) {
    const ends = range.slice(1).map((digits) => numberOf(place, { ...groups, digits }, text));
    const { text: found, end } = ends[0]!;
    for (const one of ends) one.text = found.replace(written, one.digits);
    return { ...place, text: found, end, kind: "code 9-9", digits: written, ends };
  }
  const amounts = readings(written).map((amount) => sign * amount * 10 ** Number(power ?? 0));
  const digits = (sign < 0 ? "-" : "") +
    written.replace(/(?<!^0),(?=\d{3}(?!\d))/g, "").replace(",", ".");
  if (amounts.length === 0 && /[:/-]|[.,].*[.,]/.test(written)) {
    const dense = written.replace(/\D/g, "");
    return codeOf(place, dense.length < PHONE_DIGITS ? written : dense);
  }
  const value = amountAt(place, amounts, { text, digits, before });
  if (value.unit || value.end > place.end || !written.includes(".")) return value;
  return {
    ...value,
    name: NAME_BEFORE.exec(text.slice(Math.max(0, place.start - 30), place.start))?.[1],
  };
}

const NAME_BEFORE = /(?<![\p{L}\d])(\p{Lu}[\p{L}\d]*) $/u;
const PHONE_DIGITS = 7;

/** Longer numbers are identifiers, not quantities, and so are those with zeros in front. */
const EXACT = /^-?(?:0\d{2,}|\d{16,})$/;

/** An amount with the power, the unit and the rate that follow it. */
function amountAt(
  { start, end }: Place,
  amounts: number[],
  { text, digits, before }: { text: string; digits: string; before?: string | undefined },
): Value {
  let unit = before === undefined ? undefined : UNITS.get(before.toLowerCase());
  const take = <T>(names: Map<string, T>, lead = NAME, fits = (_: T) => true): T | undefined => {
    lead.lastIndex = end;
    const [whole = "", name = ""] = lead.exec(text) ?? [];
    const shortest = SPACELESS.test(name) ? 1 : name.length;
    for (let length = Math.min(name.length, 20); length > 0 && length >= shortest; length--) {
      const meaning = names.get(name.slice(0, length).toLowerCase());
      if (meaning === undefined || !fits(meaning)) continue;
      end += whole.length - name.length + length;
      return meaning;
    }
    return undefined;
  };
  const factor = take(POWERS) ?? (unit?.kind === "money" && take(MONEY_POWERS) || 1);
  unit = take(UNITS, NAME, ({ kind }) => !unit || kind === unit.kind) ?? unit;
  const time = take(UNITS, RATE, ({ kind }) => kind === "duration");
  return {
    text: text.slice(start, end).replaceAll("**", ""),
    start,
    end,
    kind: unit?.kind ?? "number",
    digits,
    ...((factor !== 1 || !EXACT.test(digits)) && {
      amounts: amounts.map((amount) => amount * factor),
    }),
    unit,
    per: time?.convert(1),
  };
}

const NAME =
  /[*_]{0,3}[ -]?(?:de |d')?(°\s?[CF]\b|per cent\b|us\$|[%$€£¥₹₽₴₺₩₫¢]|[\p{L}\p{M}]+)/iuy;
/** "a month", "pro Monat", "par mois", "/year" */
const RATE =
  /[*_]{0,3} ?(?:\/ ?|(?:per|a|an|each|every|pro|je|im|par|por|al|ao|all'|alla|w|na|в|за) )([\p{L}\p{M}]+)(?! ago)/iuy;
const SPACELESS = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;

/** 1.250 is 1.25 in one country and 1250 in another. */
function readings(written: string): number[] {
  const fraction = /^(\d+)\/([1-9]\d*)$/.exec(written);
  if (fraction) return [Number(fraction[1]) / Number(fraction[2])];
  const [, whole, mark, rest] = /^([\d.,]*?)(?:([.,])(\d+))?$/.exec(written) ?? [];
  if (whole === undefined) return [];
  if (mark === undefined) return [Number(whole)];
  const other = mark === "." ? "," : ".";
  const decimal = Number(`${whole.replaceAll(other, "")}.${rest}`);
  if (!/^[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*$/.test(written)) {
    return [decimal].filter(Number.isFinite);
  }
  const grouped = Number(written.replace(/[.,]/g, ""));
  return mark === "," ? [grouped] : [decimal, grouped].filter(Number.isFinite);
}

function valueOfWords(words: string): number {
  const sign = /^(?:minus|negative) /.test(words) ? -1 : 1;
  let [total, part] = [0, 0];
  for (const word of words.split(/[\s,-]+/)) {
    if (word === "dozen") part = 12;
    else if (word === "hundred") part = (part || 1) * 100;
    else if (SCALES[word]) [total, part] = [total + (part || 1) * SCALES[word], 0];
    else part += WORD_VALUES.get(word) ?? 0;
  }
  return sign * (total + part);
}

/** Whether two values are the same. A number without a unit equals the same number with any unit. */
export function isSameValue(one: Value, other: Value): boolean {
  if (one.kind !== other.kind && one.kind !== "number" && other.kind !== "number") return false;
  if (one.parts && other.parts) {
    return one.parts.every((part, i) => (part ?? other.parts![i]) === (other.parts![i] ?? part));
  }
  const isName = one.name !== undefined && one.name === other.name;
  if (one.amounts && other.amounts && !isName) return isSameAmount(one, other);
  return one.digits === other.digits || isSamePhone(one, other) || isSamePhone(other, one);
}

/** "030 1234567" is "+49 30 1234567". */
function isSamePhone(one: Value, { digits }: Value): boolean {
  const local = one.digits.replace(/^0/, "");
  const isPhone = one.kind === "code 9" && local.length >= PHONE_DIGITS && /^\d+$/.test(digits);
  return isPhone && digits.endsWith(local);
}

function isSameAmount(one: Value, other: Value): boolean {
  const [left, right] = [one.unit, other.unit];
  if (left?.currency && right?.currency && left.currency !== right.currency) return false;
  const isConverted = left !== undefined && right !== undefined;
  const isRate = one.per !== undefined && other.per !== undefined && one.per !== other.per;
  const tolerance = !isConverted || left === right && !isRate
    ? 0
    : Math.max(left.rounding, right.rounding);
  const isNear = (a: number, b: number) => {
    const difference = Math.abs(a - b);
    const most = Math.max(Math.abs(a), Math.abs(b));
    return difference <= 1e-9 * Math.max(1, most) || difference <= tolerance * most ||
      difference <= 0.001 * most && isRounding(one.digits, other.digits);
  };
  const of = ({ amounts, unit, per = 1 }: Value) =>
    isConverted
      ? amounts!.map((amount) => unit!.convert(amount) / (isRate ? per : 1))
      : [...amounts!, ...(unit?.isPure ? amounts!.map(unit.convert) : [])];
  return of(one).some((a) => of(other).some((b) => isNear(a, b)));
}

/** 3.14 is 3.1416; but $99.95 is not $99.99, and 1201 is not 1201.5. */
function isRounding(one: string, other: string): boolean {
  const [left, right] = [one, other].map((digits) => /[.,](\d+)$/.exec(digits)?.[1]?.length ?? 0);
  return left !== right && left! > 0 && right! > 0;
}

const DIGIT = /\p{Nd}/u;
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** A number in groups of three, separated by narrow or no-break blanks or apostrophes. */
const GROUPED =
  /(?<![\p{Nd}.,])[1-9]\p{Nd}{0,2}(?:[\xa0\u2007\u2009\u202f'’]\p{Nd}{3})+(?!\p{Nd})/gu;

/** Converts digits and decimal marks of every script to ASCII, after NFKC: `٣٫٥` is `3.5`. */
function asciiDigits(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  const digits = text.replace(OTHER_DIGIT, valueOfDigit);
  return digits.replaceAll("\u066b", ".").replaceAll("\u066c", ",");
}

/** A fraction character with the whole number before it: `½`, `1½`, `2 ¾`; no sequences of them. */
const ONE_SIGN =
  /(?:(?<![\p{Nd}.,/¼½¾⅐-⅞])(\d{1,6}) ?)?(?<![¼½¾⅐-⅞])([¼½¾⅐-⅞])(?![\p{Nd}¼½¾⅐-⅞])/gu;
const PARTS = /^(\d+)\u2044(\d+)$/;

/** Replaces fraction characters, because NFKC would turn `1½` into `11⁄2`. */
function withFractions(text: string): string {
  return text.replace(ONE_SIGN, (_, whole: string | undefined, sign: string) => {
    const [, above, below] = PARTS.exec(sign.normalize("NFKC"))!;
    return String(Number(whole ?? 0) + Number(above) / Number(below));
  });
}

/**
 * Joins grouped digits, as in `1 234,50` and `1’234.50`, and fractions, as in `1½`. Runs before
 * NFKC, which makes all blanks equal: an ordinary one may separate two numbers.
 */
function joinGroups(text: string): string {
  return withFractions(text).replace(GROUPED, (number) => number.replace(/\P{Nd}/gu, ""));
}

/** Unicode has the ten digits of a script in sequence, starting with zero. */
function valueOfDigit(digit: string): string {
  const point = digit.codePointAt(0)!;
  let zero = point;
  while (point - zero < 9 && DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String(point - zero);
}
