import { calendarOf, type CalendarWord, monthBehindDay } from "./calendar.ts";
import { type QuantityCursor, SUFFIXES } from "./quantity_cursor.ts";
import { addTime } from "./read_clock.ts";

const MONTH_BEFORE = new Set("in of by since until till from this next last to through".split(" "));
const AMBIGUOUS_MONTHS = new Set(["may", "march", "mar", "jan", "dec", "sep"]);

const FRIDAY = 5;

export function readDate(cursor: QuantityCursor, at: number): number | undefined {
  const { text } = cursor.tokens[at]!;
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (dotted) {
    addDate(cursor, Number(dotted[2]), Number(dotted[1]), Number(dotted[3]));
    return at + 1;
  }
  const [mark, second, mark2, third] = [1, 2, 3, 4].map((step) => cursor.tokens[at + step]);
  if (second?.type === "number" && third?.type === "number" && mark!.raw === mark2!.raw) {
    const parts = [text, second.text, third.text];
    if (mark!.raw === "-" && /^\d{4}-\d{1,2}-\d{1,2}$/.test(parts.join("-"))) {
      addDate(cursor, Number(parts[1]), Number(parts[2]), Number(parts[0]));
      return at + 5;
    }
    if (mark!.raw === "/" && /^\d{1,2}\/\d{1,2}\/\d{2,4}$/.test(parts.join("/"))) {
      const [first, other] = [Number(parts[0]), Number(parts[1])];
      const days = [first * 100 + other, other * 100 + first].filter((day) => day < 1232);
      cursor.add("date", days, { part: "day" });
      cursor.add("date", [Number(parts[2])], { part: "year" });
      return at + 5;
    }
  }
  return readHanDate(cursor, at) ?? readDayAndMonth(cursor, at);
}

/** 2024年3月5日, and the same in Korean, where an ending may hang on the last word. */
function readHanDate(cursor: QuantityCursor, at: number): number | undefined {
  const value = Number(cursor.tokens[at]!.text);
  if (/^[年년]/.test(cursor.word(at + 1)) && value > 1000) {
    cursor.add("date", [value], { part: "year" });
    return at + 2;
  }
  if (!/^月$|^월(?![요급])/.test(cursor.word(at + 1)) || value > 12) return undefined;
  const day = cursor.tokens[at + 2];
  if (day?.type === "number" && /^[日号號]$|^일/.test(cursor.word(at + 3))) {
    addDate(cursor, value, Number(day.text));
    return at + 4;
  }
  cursor.add("date", [value], { part: "month" });
  return at + 2;
}

/** "5 March", "5th of March 2024", "5. März". */
function readDayAndMonth(cursor: QuantityCursor, at: number): number | undefined {
  const day = Number(cursor.tokens[at]!.text);
  if (!(day >= 1 && day <= 31)) return undefined;
  let next = at + 1;
  if (SUFFIXES.has(cursor.word(next)) || cursor.word(next) === ".") next++;
  if (cursor.word(next) === "of" || cursor.word(next) === "de" || cursor.word(next) === "-") next++;
  const month = monthBehindDay(cursor.word(next));
  if (month === undefined) return undefined;
  return readYearAfter(cursor, next + 1, month, day);
}

export function readCalendar(cursor: QuantityCursor, at: number): number | undefined {
  const word = calendarOf(cursor.language)?.get(cursor.word(at));
  if (!word) return undefined;
  if (word.type === "clock") {
    addTime(cursor, word.value, "sure");
    return at + 1;
  }
  if (word.type !== "month") {
    const isSoft = isAboutWeeks(cursor) || isOrdinalToo(cursor, at, word);
    cursor.add("date", [word.value], { part: word.type, isSoft });
    return word.type === "weekday" ? readWeekdays(cursor, at, word.value) : at + 1;
  }
  const day = cursor.tokens[at + 1];
  if (day?.type === "number" && /^(?:[1-9]|[12]\d|3[01])$/.test(day.text)) {
    const next = SUFFIXES.has(cursor.word(at + 2)) ? at + 3 : at + 2;
    return readYearAfter(cursor, next, word.value, Number(day.text));
  }
  const isYear = day?.type === "number" && /^\d{4}$/.test(day.text);
  const isClear = !AMBIGUOUS_MONTHS.has(cursor.word(at)) ||
    (MONTH_BEFORE.has(cursor.word(at - 1)) && /^\p{Lu}/u.test(cursor.tokens[at]!.raw));
  if (!isYear && !isClear) return undefined;
  cursor.add("date", [word.value], { part: "month" });
  return at + 1;
}

/** "Monday to Friday" are the days between, too. */
function readWeekdays(cursor: QuantityCursor, at: number, first: number): number {
  if (!/^(?:to|through|till|until|bis|à|a|al|até|tot|do|-|–)$/.test(cursor.word(at + 1))) {
    return at + 1;
  }
  const last = calendarOf(cursor.language)?.get(cursor.word(at + 2));
  if (last?.type !== "weekday") return at + 1;
  for (let day = first + 1; day <= last.value; day++) {
    cursor.add("date", [day], { part: "weekday", isSoft: isAboutWeeks(cursor) });
  }
  return at + 3;
}

/** In Portuguese "segunda" is "second", too, and "segunda-feira" is Monday. */
function isOrdinalToo(cursor: QuantityCursor, at: number, { type, value }: CalendarWord): boolean {
  return cursor.language === "pt" && type === "weekday" && value <= FRIDAY &&
    !cursor.word(at + 2).startsWith("feira");
}

/** "Weekdays" and "weekends" name days without their names. */
function isAboutWeeks(cursor: QuantityCursor): boolean {
  return cursor.tokens.some(({ text }) => /^week(?:day|end)s?$/.test(text));
}

function readYearAfter(cursor: QuantityCursor, at: number, month: number, day: number): number {
  const isJoined = cursor.word(at) === "," || cursor.word(at) === "de";
  const year = cursor.tokens[isJoined ? at + 1 : at];
  if (year?.type === "number" && /^\d{4}$/.test(year.text)) {
    addDate(cursor, month, day, Number(year.text));
    return isJoined ? at + 2 : at + 1;
  }
  addDate(cursor, month, day);
  return at;
}

function addDate(cursor: QuantityCursor, month: number, day: number, year?: number): void {
  cursor.add("date", [month * 100 + day], { part: "day" });
  cursor.add("date", [month], { part: "month", isSoft: true });
  if (year !== undefined) cursor.add("date", [year], { part: "year" });
}
