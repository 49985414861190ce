import { calendarOf, hanDays } from "./calendar.ts";
import type { Language } from "./language.ts";
import { readArticleNumber, readNumber } from "./number_words.ts";
import type { Token } from "./tokens.ts";
import { currencyOf, POUND, type Unit, unitOf } from "./units.ts";

/** Something countable that a text says. */
export interface Quantity {
  kind: "number" | "unit" | "money" | "time" | "date";
  /** What it may mean: minutes after midnight for `time`; see `part` for `date`. */
  values: number[];
  /** It may agree with another, but is no ground to say that two texts differ. */
  isSoft: boolean;
  unit?: Unit;
  currencies?: string[];
  /** Of a date: month × 100 + day, the year, and so on. Only like parts are compared. */
  part?: "day" | "year" | "month" | "weekday" | "relative";
}

/** Every quantity of one text is held against every one of the other: a table of figures has many. */
const MAX_QUANTITIES = 300;

/** In a text with one of these words a pound is a weight, else money. */
const MASS_WORDS = new Set("weigh weighs weight heavy lbs kg kilos bag".split(" "));
const SUFFIXES = new Set(["st", "nd", "rd", "th", "er", "ème", "e", "º", "ª"]);
const YEAR_BEFORE = new Set(
  "in since until till from by before after during of year im seit bis en desde depuis de в с до"
    .split(" "),
);
const MONTH_BEFORE = new Set("in of by since until till from this next last to through".split(" "));
const AMBIGUOUS_MONTHS = new Set(["may", "march", "mar", "jan", "dec", "sep"]);
const HALF_PAST = new Map([["half", 30], ["quarter", 15]]);

/** The quantities of a text. Lists of steps (`1.`, `2)`) are no quantities. */
export function quantitiesOf(
  text: string,
  tokens: readonly Token[],
  language: Language,
): Quantity[] {
  const reader = new QuantityReader(tokens, language);
  const found = reader.read();
  if (language === "zh" || language === "ja") {
    for (const { type, value } of hanDays(text)) {
      found.push({ kind: "date", part: type as "weekday", values: [value], isSoft: false });
    }
  }
  return found;
}

class QuantityReader {
  readonly #tokens: readonly Token[];
  readonly #language: Language;
  readonly #found: Quantity[] = [];

  constructor(tokens: readonly Token[], language: Language) {
    this.#tokens = tokens;
    this.#language = language;
  }

  read(): Quantity[] {
    for (let at = 0; at < this.#tokens.length && this.#found.length < MAX_QUANTITIES;) {
      at = this.#step(at);
    }
    return this.#found;
  }

  #add(kind: Quantity["kind"], values: number[], more: Partial<Quantity> = {}): void {
    this.#found.push({ kind, values, isSoft: false, ...more });
  }

  #word(at: number): string {
    return this.#tokens[at]?.text ?? "";
  }

  /** Reads what begins at a token, and tells where to go on. */
  #step(at: number): number {
    const token = this.#tokens[at]!;
    if (token.type === "number") {
      return this.#readDate(at) ?? this.#readMarker(at) ?? this.#count(at);
    }
    const currencies = currencyOf(token.text);
    if (currencies && this.#tokens[at + 1]?.type === "number") {
      return this.#readMoney(at + 1, currencies);
    }
    if (token.type === "sign") return at + 1;
    return this.#readCalendar(at) ?? this.#readWord(at);
  }

  #readWord(at: number): number {
    const text = this.#word(at);
    if (this.#language === "en") {
      if (text === "a" || text === "an") return this.#readArticle(at);
      const past = this.#readPast(at);
      if (past !== undefined) return past;
      if (text === "half") {
        this.#add("number", [0.5, 50], { isSoft: true });
        return at + 1;
      }
    }
    return this.#count(at);
  }

  #readArticle(at: number): number {
    const number = readArticleNumber(this.#tokens, at);
    if (number) return this.#finish(number);
    const unit = unitOf(this.#word(at + 1));
    if (unit) this.#add("unit", [1], { unit, isSoft: true });
    return at + 1;
  }

  /** "half past six", "a quarter to nine": in the morning or in the evening. */
  #readPast(at: number): number | undefined {
    const minutes = HALF_PAST.get(this.#word(at));
    const relation = this.#word(at + 1);
    if (minutes === undefined || !/^(?:past|after|to|before)$/.test(relation)) return undefined;
    const hour = this.#tokens[at + 2] && readNumber(this.#tokens, at + 2, this.#language);
    if (!hour || hour.values[0]! > 12) return undefined;
    const isTo = relation === "to" || relation === "before";
    this.#addTime(hour.values[0]! * 60 + (isTo ? -minutes : minutes), "either");
    return hour.next;
  }

  /** `1.` and `2)` at the beginning of a line or after a sentence's end. */
  #readMarker(at: number): number | undefined {
    const { text, isApart } = this.#tokens[at]!;
    const after = this.#tokens[at + 1];
    const before = this.#tokens[at - 1];
    if (!isApart || text.length > 2 || !after || after.isApart) return undefined;
    if (after.raw !== ")" && after.raw !== ".") return undefined;
    if (!this.#tokens[at + 2]?.isApart) return undefined;
    const isFirst = !before || (before.type === "sign" && /[.:;!?)]/.test(before.raw));
    return isFirst || after.raw === ")" ? at + 2 : undefined;
  }

  #readDate(at: number): number | undefined {
    const { text } = this.#tokens[at]!;
    const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
    if (dotted) {
      this.#addDate(Number(dotted[2]), Number(dotted[1]), Number(dotted[3]));
      return at + 1;
    }
    const [mark, second, mark2, third] = [1, 2, 3, 4].map((step) => this.#tokens[at + step]);
    if (second?.type === "number" && third?.type === "number" && mark!.raw === mark2!.raw) {
      const parts = [text, second.text, third.text];
      if (mark!.raw === "-" && /^\d{4}-\d{1,2}-\d{1,2}$/.test(parts.join("-"))) {
        this.#addDate(Number(parts[1]), Number(parts[2]), Number(parts[0]));
        return at + 5;
      }
      if (mark!.raw === "/" && /^\d{1,2}\/\d{1,2}\/\d{2,4}$/.test(parts.join("/"))) {
        const [first, other] = [Number(parts[0]), Number(parts[1])];
        const days = [first * 100 + other, other * 100 + first].filter((day) => day < 1232);
        this.#add("date", days, { part: "day" });
        this.#add("date", [Number(parts[2])], { part: "year" });
        return at + 5;
      }
    }
    return this.#readHanDate(at) ?? this.#readDayAndMonth(at);
  }

  #readHanDate(at: number): number | undefined {
    const value = Number(this.#tokens[at]!.text);
    if (this.#word(at + 1) === "年" && value > 1000) {
      this.#add("date", [value], { part: "year" });
      return at + 2;
    }
    if (this.#word(at + 1) !== "月" || value > 12) return undefined;
    const day = this.#tokens[at + 2];
    if (day?.type === "number" && /^[日号號]$/.test(this.#word(at + 3))) {
      this.#addDate(value, Number(day.text));
      return at + 4;
    }
    this.#add("date", [value], { part: "month" });
    return at + 2;
  }

  /** "5 March", "5th of March 2024", "5. März". */
  #readDayAndMonth(at: number): number | undefined {
    const day = Number(this.#tokens[at]!.text);
    if (!(day >= 1 && day <= 31)) return undefined;
    let next = at + 1;
    if (SUFFIXES.has(this.#word(next)) || this.#word(next) === ".") next++;
    if (this.#word(next) === "of" || this.#word(next) === "de" || this.#word(next) === "-") next++;
    const month = calendarOf(this.#language)?.get(this.#word(next));
    if (month?.type !== "month") return undefined;
    return this.#readYearAfter(next + 1, month.value, day);
  }

  #readCalendar(at: number): number | undefined {
    const word = calendarOf(this.#language)?.get(this.#word(at));
    if (!word) return undefined;
    if (word.type === "clock") {
      this.#addTime(word.value, "sure");
      return at + 1;
    }
    if (word.type !== "month") {
      this.#add("date", [word.value], { part: word.type, isSoft: this.#isAboutWeeks() });
      return word.type === "weekday" ? this.#readWeekdays(at, word.value) : at + 1;
    }
    const day = this.#tokens[at + 1];
    if (day?.type === "number" && /^(?:[1-9]|[12]\d|3[01])$/.test(day.text)) {
      const next = SUFFIXES.has(this.#word(at + 2)) ? at + 3 : at + 2;
      return this.#readYearAfter(next, word.value, Number(day.text));
    }
    const isYear = day?.type === "number" && /^\d{4}$/.test(day.text);
    const isClear = !AMBIGUOUS_MONTHS.has(this.#word(at)) ||
      (MONTH_BEFORE.has(this.#word(at - 1)) && /^\p{Lu}/u.test(this.#tokens[at]!.raw));
    if (!isYear && !isClear) return undefined;
    this.#add("date", [word.value], { part: "month" });
    return at + 1;
  }

  /** "Monday to Friday" are the days between, too. */
  #readWeekdays(at: number, first: number): number {
    if (!/^(?:to|through|till|until|bis|à|a|-|–)$/.test(this.#word(at + 1))) return at + 1;
    const last = calendarOf(this.#language)?.get(this.#word(at + 2));
    if (last?.type !== "weekday") return at + 1;
    for (let day = first + 1; day <= last.value; day++) {
      this.#add("date", [day], { part: "weekday", isSoft: this.#isAboutWeeks() });
    }
    return at + 3;
  }

  /** "Weekdays" and "weekends" name days without their names. */
  #isAboutWeeks(): boolean {
    return this.#tokens.some(({ text }) => /^week(?:day|end)s?$/.test(text));
  }

  #readYearAfter(at: number, month: number, day: number): number {
    const isJoined = this.#word(at) === "," || this.#word(at) === "de";
    const year = this.#tokens[isJoined ? at + 1 : at];
    if (year?.type === "number" && /^\d{4}$/.test(year.text)) {
      this.#addDate(month, day, Number(year.text));
      return isJoined ? at + 2 : at + 1;
    }
    this.#addDate(month, day);
    return at;
  }

  #addDate(month: number, day: number, year?: number): void {
    this.#add("date", [month * 100 + day], { part: "day" });
    this.#add("date", [month], { part: "month", isSoft: true });
    if (year !== undefined) this.#add("date", [year], { part: "year" });
  }

  /** `either`: of a clock face with twelve hours, before or after noon. */
  #addTime(minutes: number, half: "sure" | "either"): void {
    const day = 24 * 60;
    const values = half === "sure" ? [minutes] : [minutes, minutes + day / 2];
    this.#add("time", values.map((value) => (value + day) % day));
  }

  #count(at: number): number {
    const number = readNumber(this.#tokens, at, this.#language);
    return number ? this.#finish(number, at) : at + 1;
  }

  /** What stands after a number tells what it counts. */
  #finish(number: NonNullable<ReturnType<typeof readNumber>>, at = -1): number {
    const { values, next } = number;
    const timeEnd = at >= 0 ? this.#readTime(at, number) : undefined;
    if (timeEnd !== undefined) return timeEnd;

    const joined = `${this.#word(next)}${this.#word(next + 1)}`;
    const name = this.#word(next) === "-" && !this.#tokens[next]!.isApart
      ? this.#word(next + 1) // 12-month
      : this.#word(next);
    const skipped = name === this.#word(next) ? 1 : 2;
    const currencies = currencyOf(name);
    if (currencies && !(/^pounds?$/.test(name) && this.#isAboutMass())) {
      this.#add("money", values, { currencies });
      return next + skipped;
    }
    if (name === "cent" || name === "cents") {
      this.#add("money", values.map((value) => value / 100), { currencies: ["usd", "eur"] });
      return next + skipped;
    }
    const degrees = this.#readDegrees(next, values);
    if (degrees !== undefined) return degrees;
    const unit = currencies ? POUND : unitOf(joined) ?? unitOf(name);
    if (unit) return this.#addUnit(number, unit, { next: next + (unitOf(joined) ? 2 : skipped) });
    return this.#addPlain(number, at);
  }

  #addUnit(
    { values, isSoft }: { values: number[]; isSoft: boolean },
    unit: Unit,
    { next }: { next: number },
  ): number {
    // "one day" and "one second" are ways to speak; "one year" is a number.
    const isIdiom = isSoft && (unit.name === "day" || unit.name === "s");
    const isPerHour = this.#word(next) === "/" && this.#tokens[next + 1]?.type === "word";
    const named = isPerHour
      ? { name: `${unit.name}/${this.#word(next + 1)}`, dimension: "rate", factor: 1 }
      : unit;
    this.#add("unit", values, { unit: named, isSoft: isIdiom });
    return isPerHour ? next + 2 : next;
  }

  #addPlain(number: NonNullable<ReturnType<typeof readNumber>>, at: number): number {
    const { values, next, isSoft } = number;
    const isOrdinal = SUFFIXES.has(this.#word(next)) && !this.#tokens[next]!.isApart;
    const raw = at >= 0 ? this.#tokens[at]!.text : "";
    const after = this.#tokens[next];
    const isYear = /^(?:1[5-9]|20)\d\d$/.test(raw) && next === at + 1 &&
      YEAR_BEFORE.has(this.#word(at - 1)) && after?.type !== "word";
    const year = isYear || /^年$/.test(this.#word(next));
    if (year) this.#add("date", values, { part: "year" });
    else {
      const fraction = this.#readFraction(next, values);
      if (fraction !== undefined) return fraction;
      this.#add("number", values, { isSoft });
    }
    return isOrdinal ? next + 1 : next;
  }

  #readFraction(next: number, [value]: number[]): number | undefined {
    const [mark, below] = [this.#tokens[next], this.#tokens[next + 1]];
    if (!/^[/⁄]$/.test(mark?.raw ?? "") || mark!.isApart || below?.type !== "number") {
      return undefined;
    }
    this.#add("number", [value! / Number(below.text)]);
    return next + 2;
  }

  /** 15:00, 3:30 pm, 3 pm, 3 o'clock, 15 Uhr, 15h30, 下午3点. */
  #readTime(at: number, { values: [hour], next }: { values: number[]; next: number }) {
    const words = this.#tokens;
    if (hour === undefined || hour > 24 || !Number.isInteger(hour)) return undefined;
    let minutes = 0;
    let end = next;
    let isTime = false;
    const isMinutes = (index: number) =>
      words[index]?.type === "number" && /^[0-5]\d$/.test(words[index].text);
    const mark = this.#word(next);
    if ((mark === ":" || mark === "h") && !words[next]!.isApart && isMinutes(next + 1)) {
      minutes = Number(words[next + 1]!.text);
      end = next + 2;
      if (this.#word(end) === ":" && isMinutes(end + 1)) end += 2;
      isTime = true;
    }
    const half = this.#readHalf(end);
    if (half) {
      const hours = hour % 12 + (half.isAfternoon ? 12 : 0);
      this.#addTime(hours * 60 + minutes, "sure");
      return half.next;
    }
    const clock = this.#word(end);
    if (clock === "uhr" || clock === "o'clock") {
      isTime = true;
      end++;
    } else if (/^[点點時时]$/.test(clock) && !/^[间間]$/.test(this.#word(end + 1))) {
      return this.#readHanTime(at, hour, end + 1);
    }
    if (!isTime) return undefined;
    const isEither = hour <= 12 && hour > 0 && clock !== "uhr" && mark !== "h";
    this.#addTime(hour * 60 + minutes, isEither ? "either" : "sure");
    return end;
  }

  /** `am`, `pm`, `a.m.`, `p.m.` */
  #readHalf(at: number): { isAfternoon: boolean; next: number } | undefined {
    const word = this.#word(at);
    if (word === "am" || word === "pm") return { isAfternoon: word === "pm", next: at + 1 };
    if (
      (word !== "a" && word !== "p") || this.#word(at + 1) !== "." || this.#word(at + 2) !== "m"
    ) {
      return undefined;
    }
    return { isAfternoon: word === "p", next: at + (this.#word(at + 3) === "." ? 4 : 3) };
  }

  #readHanTime(at: number, hour: number, next: number): number {
    const before = `${this.#word(at - 2)}${this.#word(at - 1)}`;
    const isHalf = this.#word(next) === "半";
    const minutes = hour * 60 + (isHalf ? 30 : 0);
    const end = isHalf ? next + 1 : next;
    if (/下午|晚上|午後/.test(before) && hour < 12) this.#addTime(minutes + 720, "sure");
    else if (/上午|早上|午前/.test(before) || hour > 12) this.#addTime(minutes, "sure");
    else this.#addTime(minutes, "either");
    return end;
  }

  /** 20 °C, 68 °F, 20 degrees Celsius: in degrees Celsius. */
  #readDegrees(next: number, values: number[]): number | undefined {
    const isSign = this.#word(next) === "°";
    const isWord = /^(?:degrees?|grad)$/.test(this.#word(next));
    if (!isSign && !isWord) return undefined;
    const scale = this.#word(next + 1);
    const isFahrenheit = scale === "f" || scale === "fahrenheit";
    if (!isFahrenheit && scale !== "c" && scale !== "celsius") return undefined;
    const unit = { name: isFahrenheit ? "°f" : "°c", dimension: "temperature", factor: 1 };
    this.#add("unit", isFahrenheit ? values.map((value) => (value - 32) * 5 / 9) : values, {
      unit,
    });
    return next + 2;
  }

  #readMoney(at: number, currencies: string[]): number {
    const number = readNumber(this.#tokens, at, this.#language)!;
    const isMillion = this.#word(number.next) === "m" && !this.#tokens[number.next]!.isApart;
    const values = isMillion ? number.values.map((value) => value * 1e6) : number.values;
    this.#add("money", values, { currencies });
    return isMillion ? number.next + 1 : number.next;
  }

  #isAboutMass(): boolean {
    return this.#tokens.some(({ text }) => MASS_WORDS.has(text));
  }
}
