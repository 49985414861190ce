import { hanDays } from "./calendar.ts";
import type { Language } from "./language.ts";
import { readArticleNumber, readNumber } from "./number_words.ts";
import { type Quantity, QuantityCursor, SUFFIXES } from "./quantity_cursor.ts";
import { readPast, readTime } from "./read_clock.ts";
import { readCalendar, readDate } from "./read_date.ts";
import type { Token } from "./tokens.ts";
import { currencyOf, POUND, type Unit, unitOf } from "./units.ts";

/** Every quantity of one text is held against every one of the other: a table of figures has many. */
const MAX_QUANTITIES = 300;
/** In a text with one of these words a pound is a weight, else money. */
const MASS_WORDS = new Set("weigh weighs weight heavy lbs kg kilos bag".split(" "));
const YEAR_BEFORE = new Set(
  "in since until till from by before after during of year im seit bis en desde depuis de в с до"
    .split(" "),
);

/** How often something is done: "twice a day", "3 times per week". */
const TIMES: Unit = { name: "times", dimension: "frequency", factor: 1 };
const OFTEN = new Map([["once", 1], ["twice", 2]]);
/** English number words for a place. */
const ORDINAL = /^(?:first|second|third|[a-z]+th)$/;
/** What "two thirds" and "one quarter" count. */
const PART = /^(?:halves|(?:third|quarter|[a-z]+th)s?)$/;
/** What follows such words: "once a day", but not "once it has arrived". */
const PERIODS = new Set("a an per each every daily weekly monthly yearly annually".split(" "));

/** The quantities of a text. Lists of steps (`1.`, `2)`) are no quantities. */
export function quantitiesOf(
  text: string,
  tokens: readonly Token[],
  language: Language,
): Quantity[] {
  const cursor = new QuantityCursor(tokens, language);
  for (let at = 0; at < tokens.length && cursor.found.length < MAX_QUANTITIES;) {
    at = step(cursor, at);
  }
  if (language === "zh" || language === "ja") {
    for (const { type, value } of hanDays(text)) {
      cursor.add("date", [value], { part: type as "weekday" });
    }
  }
  return cursor.found;
}

/** Reads what begins at a token, and tells where to go on. */
function step(cursor: QuantityCursor, at: number): number {
  const token = cursor.tokens[at]!;
  if (token.type === "number") {
    return readDate(cursor, at) ?? readMarker(cursor, at) ?? count(cursor, at);
  }
  const currencies = currencyOf(token.text);
  if (currencies && cursor.tokens[at + 1]?.type === "number") {
    return readMoney(cursor, at + 1, currencies);
  }
  if (token.type === "sign") return at + 1;
  return readCalendar(cursor, at) ?? readWord(cursor, at);
}

function readWord(cursor: QuantityCursor, at: number): number {
  const text = cursor.word(at);
  if (cursor.language === "en") {
    if (text === "a" || text === "an") return readArticle(cursor, at);
    const past = readPast(cursor, at);
    if (past !== undefined) return past;
    const often = OFTEN.get(text);
    if (often !== undefined && PERIODS.has(cursor.word(at + 1))) {
      cursor.add("unit", [often], { unit: TIMES });
      return at + 1;
    }
    if (text === "half") {
      cursor.add("number", [0.5, 50], { isSoft: true });
      return at + 1;
    }
  }
  return count(cursor, at);
}

function readArticle(cursor: QuantityCursor, at: number): number {
  const number = readArticleNumber(cursor.tokens, at);
  if (number) return finish(cursor, number);
  const unit = unitOf(cursor.word(at + 1));
  if (unit) cursor.addMeasure([1], unit, { start: at, end: at + 2, isSoft: true });
  return at + 1;
}

/** `1.` and `2)` at the beginning of a line or after a sentence's end. */
function readMarker(cursor: QuantityCursor, at: number): number | undefined {
  const { text, isApart } = cursor.tokens[at]!;
  const after = cursor.tokens[at + 1];
  const before = cursor.tokens[at - 1];
  if (!isApart || text.length > 2 || !after || after.isApart) return undefined;
  if (after.raw !== ")" && after.raw !== ".") return undefined;
  if (!cursor.tokens[at + 2]?.isApart) return undefined;
  const isFirst = !before || (before.type === "sign" && /[.:;!?)]/.test(before.raw));
  return isFirst || after.raw === ")" ? at + 2 : undefined;
}

function count(cursor: QuantityCursor, at: number): number {
  const number = readNumber(cursor.tokens, at, cursor.language);
  if (!number) return at + 1;
  for (const part of number.parts ?? []) cursor.add("number", [part], { isSoft: true });
  return finish(cursor, number, at);
}

/** What stands after a number tells what it counts. */
function finish(
  cursor: QuantityCursor,
  number: NonNullable<ReturnType<typeof readNumber>>,
  at = -1,
): number {
  const { values, next } = number;
  const timeEnd = at >= 0 ? readTime(cursor, at, number) : undefined;
  if (timeEnd !== undefined) return timeEnd;

  const joined = `${cursor.word(next)}${cursor.word(next + 1)}`;
  const name = cursor.word(next) === "-" && !cursor.tokens[next]!.isApart
    ? cursor.word(next + 1) // 12-month
    : cursor.word(next);
  const skipped = name === cursor.word(next) ? 1 : 2;
  const currencies = currencyOf(name);
  if (currencies && !(/^pounds?$/.test(name) && isAboutMass(cursor))) {
    cursor.add("money", values, { currencies });
    return next + skipped;
  }
  if (name === "cent" || name === "cents") {
    cursor.add("money", values.map((value) => value / 100), { currencies: ["usd", "eur"] });
    return next + skipped;
  }
  if (name === "times" && PERIODS.has(cursor.word(next + skipped))) {
    cursor.add("unit", values, { unit: TIMES });
    return next + skipped;
  }
  const degrees = readDegrees(cursor, next, values);
  if (degrees !== undefined) return degrees;
  const unit = currencies ? POUND : unitOf(joined) ?? unitOf(name);
  if (unit) {
    const end = next + (unitOf(joined) ? 2 : skipped);
    return addUnit(cursor, number, unit, { start: at, next: end });
  }
  return addPlain(cursor, number, at);
}

function addUnit(
  cursor: QuantityCursor,
  { values, isSoft }: { values: number[]; isSoft: boolean },
  unit: Unit,
  { start, next }: { start: number; next: number },
): number {
  // "one day" and "one second" are ways to speak; "one year" is a number.
  const isIdiom = isSoft && (unit.name === "day" || unit.name === "s");
  const isPerHour = cursor.word(next) === "/" && cursor.tokens[next + 1]?.type === "word";
  if (!isPerHour) {
    cursor.addMeasure(values, unit, { start, end: next, isSoft: isIdiom });
    return next;
  }
  const name = `${unit.name}/${cursor.word(next + 1)}`;
  cursor.add("unit", values, { unit: { name, dimension: "rate", factor: 1 }, isSoft: isIdiom });
  return next + 2;
}

function addPlain(
  cursor: QuantityCursor,
  number: NonNullable<ReturnType<typeof readNumber>>,
  at: number,
): number {
  const { values, next, isSoft } = number;
  const isOrdinal = SUFFIXES.has(cursor.word(next)) && !cursor.tokens[next]!.isApart;
  const raw = at >= 0 ? cursor.tokens[at]!.text : "";
  const after = cursor.tokens[next];
  const isYear = /^(?:1[5-9]|20)\d\d$/.test(raw) && next === at + 1 &&
    YEAR_BEFORE.has(cursor.word(at - 1)) && after?.type !== "word";
  const year = isYear || /^年$/.test(cursor.word(next));
  if (year) cursor.add("date", values, { part: "year" });
  else {
    const fraction = readFraction(cursor, next, values);
    if (fraction !== undefined) return fraction;
    const isPlace = isOrdinal || ORDINAL.test(raw) || PART.test(cursor.word(next));
    cursor.add("number", values, { isSoft, ...(isPlace && { isOrdinal: true }) });
  }
  return isOrdinal ? next + 1 : next;
}

function readFraction(cursor: QuantityCursor, next: number, [value]: number[]): number | undefined {
  const [mark, below] = [cursor.tokens[next], cursor.tokens[next + 1]];
  if (!/^[/⁄]$/.test(mark?.raw ?? "") || mark!.isApart || below?.type !== "number") {
    return undefined;
  }
  cursor.add("number", [value! / Number(below.text)]);
  return next + 2;
}

/** 20 °C, 68 °F, 20 degrees Celsius: in degrees Celsius. */
function readDegrees(cursor: QuantityCursor, next: number, values: number[]): number | undefined {
  const isSign = cursor.word(next) === "°";
  const isWord = /^(?:degrees?|grad)$/.test(cursor.word(next));
  if (!isSign && !isWord) return undefined;
  const scale = cursor.word(next + 1);
  const isFahrenheit = scale === "f" || scale === "fahrenheit";
  if (!isFahrenheit && scale !== "c" && scale !== "celsius") return undefined;
  const unit = { name: isFahrenheit ? "°f" : "°c", dimension: "temperature", factor: 1 };
  cursor.add("unit", isFahrenheit ? values.map((value) => (value - 32) * 5 / 9) : values, {
    unit,
  });
  return next + 2;
}

function readMoney(cursor: QuantityCursor, at: number, currencies: string[]): number {
  const number = readNumber(cursor.tokens, at, cursor.language)!;
  const isMillion = cursor.word(number.next) === "m" && !cursor.tokens[number.next]!.isApart;
  const values = isMillion ? number.values.map((value) => value * 1e6) : number.values;
  cursor.add("money", values, { currencies });
  return isMillion ? number.next + 1 : number.next;
}

function isAboutMass(cursor: QuantityCursor): boolean {
  return cursor.tokens.some(({ text }) => MASS_WORDS.has(text));
}
