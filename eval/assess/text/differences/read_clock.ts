import { readNumber } from "./number_words.ts";
import type { QuantityCursor } from "./quantity_cursor.ts";

const HALF_PAST = new Map([["half", 30], ["quarter", 15]]);

/** "half past six", "a quarter to nine": in the morning or in the evening. */
export function readPast(cursor: QuantityCursor, at: number): number | undefined {
  const minutes = HALF_PAST.get(cursor.word(at));
  const relation = cursor.word(at + 1);
  if (minutes === undefined || !/^(?:past|after|to|before)$/.test(relation)) return undefined;
  const hour = cursor.tokens[at + 2] && readNumber(cursor.tokens, at + 2, cursor.language);
  if (!hour || hour.values[0]! > 12) return undefined;
  const isTo = relation === "to" || relation === "before";
  addTime(cursor, hour.values[0]! * 60 + (isTo ? -minutes : minutes), "either");
  return hour.next;
}

/** `either`: of a clock face with twelve hours, before or after noon. */
export function addTime(cursor: QuantityCursor, minutes: number, half: "sure" | "either"): void {
  const day = 24 * 60;
  const values = half === "sure" ? [minutes] : [minutes, minutes + day / 2];
  cursor.add("time", values.map((value) => (value + day) % day));
}

/** 15:00, 3:30 pm, 3 pm, 3 o'clock, 15 Uhr, 15h30, 下午3点. */
export function readTime(
  cursor: QuantityCursor,
  at: number,
  { values: [hour], next }: { values: number[]; next: number },
) {
  const words = cursor.tokens;
  if (hour === undefined || hour > 24 || !Number.isInteger(hour)) return undefined;
  let minutes = 0;
  let end = next;
  let isTime = false;
  const isMinutes = (index: number) =>
    words[index]?.type === "number" && /^[0-5]\d$/.test(words[index].text);
  const mark = cursor.word(next);
  if ((mark === ":" || mark === "h") && !words[next]!.isApart && isMinutes(next + 1)) {
    minutes = Number(words[next + 1]!.text);
    end = next + 2;
    if (cursor.word(end) === ":" && isMinutes(end + 1)) end += 2;
    isTime = true;
  }
  const half = readHalf(cursor, end);
  if (half) {
    const hours = hour % 12 + (half.isAfternoon ? 12 : 0);
    addTime(cursor, hours * 60 + minutes, "sure");
    return half.next;
  }
  const clock = cursor.word(end);
  if (clock === "uhr" || clock === "o'clock") {
    isTime = true;
    end++;
  } else if (
    /^시(?!간)/.test(clock) ||
    (/^[点點時时]$/.test(clock) && !/^[间間]$/.test(cursor.word(end + 1)))
  ) {
    return readHanTime(cursor, at, hour, end + 1);
  }
  if (!isTime) return undefined;
  const isEither = hour <= 12 && hour > 0 && clock !== "uhr" && mark !== "h";
  addTime(cursor, hour * 60 + minutes, isEither ? "either" : "sure");
  return end;
}

/** `am`, `pm`, `a.m.`, `p.m.` */
function readHalf(
  cursor: QuantityCursor,
  at: number,
): { isAfternoon: boolean; next: number } | undefined {
  const word = cursor.word(at);
  if (word === "am" || word === "pm") return { isAfternoon: word === "pm", next: at + 1 };
  if (
    (word !== "a" && word !== "p") || cursor.word(at + 1) !== "." || cursor.word(at + 2) !== "m"
  ) {
    return undefined;
  }
  return { isAfternoon: word === "p", next: at + (cursor.word(at + 3) === "." ? 4 : 3) };
}

/** 下午3点, 午後3時半, 上午9点15分, and 오후 2시 30분 with whatever hangs on the words. */
function readHanTime(cursor: QuantityCursor, at: number, hour: number, next: number): number {
  const before = `${cursor.word(at - 2)}${cursor.word(at - 1)}`;
  // "3시에 30분" is half an hour from three o'clock on.
  const isBare = cursor.word(next - 1).length === 1;
  const past = isBare ? readHanMinutes(cursor, next) : { minutes: 0, next };
  const minutes = hour * 60 + past.minutes;
  if (/下午|晚上|午後|오후/.test(before) && hour < 12) addTime(cursor, minutes + 720, "sure");
  else if (/上午|早上|午前|오전/.test(before) || hour > 12) addTime(cursor, minutes, "sure");
  else addTime(cursor, minutes, "either");
  return past.next;
}

function readHanMinutes(cursor: QuantityCursor, at: number): { minutes: number; next: number } {
  if (/^[半반]/.test(cursor.word(at))) return { minutes: 30, next: at + 1 };
  const number = cursor.tokens[at] && readNumber(cursor.tokens, at, cursor.language);
  const [minutes] = number?.values ?? [];
  if (minutes === undefined || !(minutes < 60) || !isMinute(cursor, number!.next)) {
    return { minutes: 0, next: at };
  }
  return { minutes, next: number!.next + 1 };
}

/** A minute of the clock; 30分钟, 30分間 and 30분 동안 are how long something takes. */
function isMinute(cursor: QuantityCursor, at: number): boolean {
  return /^(?:分|분(?!간))/.test(cursor.word(at)) &&
    !/^(?:[钟鐘间間]|동안)/.test(cursor.word(at + 1));
}
