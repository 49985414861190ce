/** A number, date, time, range or similar in a text. */
export interface Mention {
  /**
   * Possible values, the likeliest first: `50%` is 50 or 0.5. None for dates, ranges and similar.
   */
  values: number[];
  /** In a canonical form: `2024-01-05`, `15:00`, `3-5`. */
  digits: string;
  /** Such as `$` or `%`; empty if there is none. */
  unit: string;
  start: number;
  end: number;
}

/** A hyphen, dash or minus sign before a digit or a currency. */
const DASH = /[\u2010\u2011\u2013\u2212](?=\s?[$€£¥₹]?\d)/gu;
/** Thousands separated by points: `1.234.567`. */
const POINTED = /(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?!\d|\.\d)/g;
/** Thousands separated by blanks: `1 234 567`. */
const SPACED = /(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)/g;
/** A point at the start of a number: `.5`. */
const BARE_POINT = /(?<![\p{L}\d.,:/])\.(?=\d)/gu;
/** Calculations in OpenAI's grade-school solutions: `48/2 = <<48/2=24>>24`. */
const CALCULATOR = /<<[^<>\n]*>>/g;

const MONTHS =
  "january february march april may june july august september october november december"
    .split(" ");
const MONTH = `(${MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join("|")})\\.?`;
const DAY_FIRST = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH},? (\\d{4})\\b`, "gi");
const MONTH_FIRST = new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})\\b`, "gi");
const TWELVE_HOURS = /\b(1[0-2]|0?[1-9])(?::([0-5]\d))? ?([ap])\.?m\b\.?/gi;

/**
 * Normalises digits, dashes, English dates and times of day, and removes LaTeX markup. If `joined`,
 * `1 234` is one number.
 */
export function plainNumbers(text: string, { joined = true } = {}): string {
  const plain = asciiDigits(joinGroups(text).normalize("NFKC")).replace(DASH, "-")
    .replace(CALCULATOR, "")
    .replace(/\\[dt]?frac\{(\d+)\}\{(\d+)\}/g, "$1/$2")
    .replace(/\\(?:text|mathrm|mathbf)\{([^{}]*)\}/g, "$1")
    .replace(/\{,\}|\\[,;! ]/g, (mark) => mark === "{,}" ? "," : " ")
    .replace(/\\([$%])/g, "$1")
    .replace(POINTED, (number) => number.replaceAll(".", ""))
    .replace(BARE_POINT, "0.")
    .replace(DAY_FIRST, (_, day, month, year) => isoDate(year, month, day))
    .replace(MONTH_FIRST, (_, month, day, year) => isoDate(year, month, day))
    .replace(TWELVE_HOURS, (_, hour, minute = "00", half) => {
      const hours = Number(hour) % 12 + (half.toLowerCase() === "p" ? 12 : 0);
      return `${String(hours).padStart(2, "0")}:${minute}`;
    });
  return joined ? plain.replace(SPACED, (number) => number.replaceAll(" ", "")) : plain;
}

function isoDate(year: string, month: string, day: string): string {
  const number = MONTHS.findIndex((name) => name.startsWith(month.slice(0, 3).toLowerCase())) + 1;
  return `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
}

const SMALL = ("zero one two three four five six seven eight nine ten eleven twelve thirteen " +
  "fourteen fifteen sixteen seventeen eighteen nineteen").split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: Record<string, number> = {
  hundred: 100,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};
const WORD_VALUES = new Map<string, number>([
  ...SMALL.map((word, value): [string, number] => [word, value]),
  ...TENS.map((word, index): [string, number] => [word, 20 + 10 * index]),
]);
const VALUE_WORD = [...WORD_VALUES.keys()].join("|");
const SCALE_WORD = Object.keys(SCALES).join("|");
/** English number words, including `a dozen`; no ordinals and no fractions. */
const WORDS = `(?:(?:minus|negative) )?(?:${VALUE_WORD}|a (?:dozen|${SCALE_WORD}))` +
  `(?:(?:-| and | )(?:${VALUE_WORD}|${SCALE_WORD}))*` +
  "(?!-| (?:thirds?|fifths?|quarters?|halves|half)\\b)";
/** Not after another number or word: `48-24` does not contain `-24`. */
const SIGN = "(?:(?<![^\\s(*:$€£¥₹])-|(?<=(?:^|[=(])\\s?)-\\s?)?";
const MENTION = new RegExp(
  `(?<!\\p{L})${WORDS}(?!\\p{L})|` +
    `(?<![\\p{L}\\d])(${SIGN})([$€£¥₹]?)\\s?(${SIGN}\\d+(?:[.,:/-]\\d+)*)(?!\\d|(?:st|nd|rd|th)\\b)` +
    `(?:e([+-]?\\d+)\\b|\\s?[×x*]\\s?10\\^\\{?(-?\\d+)\\}?)?`,
  "giu",
);
/** Matches "one" as a number, at the end of a clause, but not in "no one" and "one of them". */
const PRONOUN = /(?<!\b(?:no|any|every|some|each|this|that|which|the) )one(?!\s?\p{L})/iu;
/** What follows a number and is part of its value or unit. */
const BEHIND =
  /^[*_]{0,3}[\s-]?(?:(%|percent\b|per cent\b)|(hundred|thousand|million|billion|trillion|dozen)\b|(k)(?![\p{L}\d])|(cents?\b|¢)|(dollars?|usd|us\$|euros?|eur|€|pounds?|gbp|yen|jpy|rupees?|inr)(?![\p{L}]))/iu;
const CURRENCIES: [RegExp, string][] = [
  [/dollar|usd|\$/i, "$"],
  [/eur|€/i, "€"],
  [/pound|gbp|£/i, "£"],
  [/yen|jpy|¥/i, "¥"],
  [/rupee|inr|₹/i, "₹"],
];

/** The numbers of a text from `plainNumbers`, in order. */
export function mentionsIn(text: string): Mention[] {
  return [...text.matchAll(MENTION)].flatMap((match): Mention[] => {
    const [raw, sign, currency, written, ...powers] = match;
    const place = { start: match.index, end: match.index + raw.length };
    if (written === undefined) {
      const around = text.slice(Math.max(0, place.start - 8), place.end + 2);
      if (raw.toLowerCase() === "one" && !PRONOUN.test(around)) return [];
      const value = valueOfWords(raw.toLowerCase());
      return [{ values: [value], digits: String(value), unit: "", ...place }];
    }
    const digits = plainDigits((sign && "-") + written.replace(/^-\s?/, sign ? "" : "-"));
    const behind = BEHIND.exec(text.slice(place.end, place.end + 20)) ?? [];
    const [, percent, scale, thousand, cents, name] = behind;
    const unit = percent ? "%" : cents ? "$" : currencyOf(currency || name || "");
    if (!isPlain(digits)) return [{ values: [], digits, unit, ...place }];
    const [above, below = "1"] = digits.split("/");
    const power = Number(powers.find((one) => one !== undefined) ?? 0);
    const value = Number(above) / Number(below) * 10 ** power;
    const factor = thousand ? 1e3 : SCALES[scale?.toLowerCase() ?? ""];
    const values = factor ? [value * factor] : scale
      ? [value, value * 12] // dozens may be the unit
      : percent || cents
      ? [value, value / 100]
      : [value];
    return [{ values, digits, unit, ...place }];
  });
}

function isPlain(digits: string): boolean {
  return /^-?\d+(?:\.\d+)?$|^-?\d+\/[1-9]\d*$/.test(digits);
}

function currencyOf(text: string): string {
  return text === "" ? "" : CURRENCIES.find(([pattern]) => pattern.test(text))?.[1] ?? "";
}

/** Removes separators of thousands; `12,50` is `12.50`, and `1.234,50` is `1234.50`. */
function plainDigits(written: string): string {
  if (/^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(written) && !/^-?0,/.test(written)) {
    return written.replaceAll(",", "");
  }
  const decimal = /^(-?\d+|-?\d{1,3}(?:\.\d{3})+),(\d+)$/.exec(written);
  return decimal ? `${decimal[1]!.replaceAll(".", "")}.${decimal[2]}` : written;
}

function valueOfWords(words: string): number {
  const sign = /^(?:minus|negative) /.test(words) ? -1 : 1;
  let [total, part] = [0, 0];
  for (const word of words.split(/[\s-]+/)) {
    if (word === "dozen") part = 12;
    else if (word === "hundred") part = (part || 1) * 100;
    else if (SCALES[word]) [total, part] = [total + (part || 1) * SCALES[word], 0];
    else part += WORD_VALUES.get(word) ?? 0;
  }
  return sign * (total + part);
}

/** Longer numbers are compared by their digits: they are identifiers, not quantities. */
const EXACT_DIGITS = 15;

/** Whether two mentions are equal. Units count only if both have one. */
export function isSameMention(one: Mention, other: Mention): boolean {
  if (one.unit && other.unit && one.unit !== other.unit) return false;
  const isQuantity = [one, other].every(({ values, digits }) =>
    values.length > 0 && digits.length <= EXACT_DIGITS
  );
  if (!isQuantity) return one.digits === other.digits;
  const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));
  return one.values.some((a) => other.values.some((b) => isNear(a, b)));
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
  return text.replace(OTHER_DIGIT, valueOf).replaceAll("\u066b", ".").replaceAll("\u066c", ",");
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
function valueOf(digit: string): string {
  const point = digit.codePointAt(0)!;
  let zero = point;
  while (point - zero < 9 && DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String(point - zero);
}
