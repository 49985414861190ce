import { asciiDigits, joinGroups } from "./digits.ts";
import { saysQuantityOf } from "./differences.ts";
import { chooses, loneOption } from "./options.ts";

/** A number, a time, a date or the like: `-42`, `1,250.50`, `7:30`, `2024-01-05`. */
const NUMBER = /(?<![^\s(])-?\p{Nd}+(?:[.,:/-]\p{Nd}+)*|\p{Nd}+(?:[.,:/-]\p{Nd}+)*/gu;
/** A hyphen, a dash or a minus sign before a digit: one sign, whatever a keyboard has. */
const DASH = /[\u2010\u2013\u2212](?=\p{Nd})/gu;
const MINUS =
  /(?<![^\s(=])-\s?\p{Nd}|(?<!\p{L})(?:minus|negative|moins|menos|meno|минус)(?!\p{L})|负|マイナス/iu;
/** Thousands set apart by points: `1.234.567`. */
const POINTED = /(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?!\d|\.\d)/g;
/** The same by blanks, unless they are several numbers: `1 234 567`. */
const SPACED = /(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)/g;
/** A point that begins a number: `.5`. */
const BARE_POINT = /(?<![\p{L}\d.,:/])\.(?=\d)/gu;
/** A number with a fraction, and its thousands by points: `12,50`, `-0.5`, `1.234,50`. */
const FRACTION = /^(-?(?:\d+|\d{1,3}(?:\.\d{3})+(?=,)))[.,](\d+)$/;
/** What is behind the last sign of equality. */
const RESULT = /=([^=]*\d[^=]*)$/;
const SYMBOL = /[^\s\p{Nd}]/gu;
const LETTER = /\p{L}/u;

/**
 * Whether a text has no letter, or that of an option alone, so that there is no meaning for a sentence
 * encoder to find.
 */
export function isWordless(text: string): boolean {
  return !LETTER.test(text) || loneOption(text.normalize("NFKC")) !== undefined;
}

/**
 * How much of a wordless reference a reply has: of its numbers, compared as they are written but for
 * thousands separators, a point or a comma before the fraction, zeros that end or begin it, dashes
 * and the script of digits, or of its symbols if there are no numbers. F1 if the reply is wordless
 * too, else the share that is found: "It is 42." has all of "42". "100 200" may be two numbers or
 * one, and of "6 × 7 = 42" the result may be meant; the nearest reading counts. All of it if the
 * reply says a single quantity in another form: "seven", "3 pm" for 15:00, "5 March 2024". Of a
 * reference that is the letter of an option, whether the reply chooses it.
 */
export function compareWordless(reply: string, reference: string): number {
  const option = loneOption(reference.normalize("NFKC"));
  if (option !== undefined) return chooses(reply.normalize("NFKC"), option);
  const isReplyWordless = !LETTER.test(reply);
  const shares = readings(reply).flatMap((one) =>
    readings(reference).map((other) => compare(one, other, isReplyWordless))
  );
  const best = Math.max(...shares);
  if (best === 1 || isNegative(reply) !== isNegative(reference)) return best;
  return saysQuantityOf(reply, reference) ? 1 : best;
}

/** Whether a number has a sign, or a word for it: quantities are compared without. */
function isNegative(text: string): boolean {
  return MINUS.test(text.replace(DASH, "-"));
}

/**
 * A text with its digits and dashes in one form, what it is without blanks in its numbers, and its
 * result if it is a calculation.
 */
function readings(text: string): string[] {
  const plain = asciiDigits(joinGroups(text).normalize("NFKC")).replace(DASH, "-")
    .replace(POINTED, (number) => number.replaceAll(".", "")).replace(BARE_POINT, "0.");
  const joined = plain.replace(SPACED, (number) => number.replaceAll(" ", ""));
  const result = LETTER.test(text) ? undefined : RESULT.exec(plain)?.[1];
  return [...new Set([plain, joined, ...(result === undefined ? [] : [result])])];
}

function compare(reply: string, reference: string, isReplyWordless: boolean): number {
  const numbers = { reply: readNumbers(reply), reference: readNumbers(reference) };
  const isNumeric = numbers.reference.length > 0 || (isReplyWordless && numbers.reply.length > 0);
  const wanted = isNumeric ? numbers.reference : reference.match(SYMBOL) ?? [];
  const given = isNumeric ? numbers.reply : reply.match(SYMBOL) ?? [];
  const left = new Map<string, number>();
  for (const token of given) left.set(token, (left.get(token) ?? 0) + 1);
  let common = 0;
  for (const token of wanted) {
    const count = left.get(token) ?? 0;
    if (count === 0) continue;
    left.set(token, count - 1);
    common++;
  }
  if (wanted.length === 0) return 0;
  return isReplyWordless ? 2 * common / (wanted.length + given.length) : common / wanted.length;
}

function readNumbers(text: string): string[] {
  return (text.match(NUMBER) ?? []).map((number) => plainFraction(withoutCommas(number)));
}

/** Without the commas between thousands; in `0,125` and `1.234,567` it begins the fraction. */
function withoutCommas(number: string): string {
  const point = number.indexOf(".");
  const hasPointFirst = point >= 0 && number.lastIndexOf(",") > point;
  if (hasPointFirst || /^-?0,/.test(number)) return number;
  return number.replaceAll(/,(?=\p{Nd}{3}(?!\p{Nd}))/gu, "");
}

/** `12,50` is `12.5`, and `12.0` is `12`. */
function plainFraction(number: string): string {
  const [, whole, fraction] = FRACTION.exec(number) ?? [];
  if (whole === undefined) return number;
  const digits = withoutZeros(fraction!);
  return whole.replaceAll(".", "") + (digits === "" ? "" : `.${digits}`);
}

/** Not by `/0+$/`, whose time grows with the square of a row of zeros within the text. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}
