import type { Language } from "./language.ts";
import { MULTIPLIERS, SOFT, TENS_JOINED, WORDS } from "./number_tables.ts";
import type { Token } from "./tokens.ts";

/** A number read from tokens. */
export interface ReadNumber {
  /** What it may mean: `1.000` is 1 or 1000, depending on who writes. */
  values: number[];
  /** The index of the token after it. */
  next: number;
  /** A word that is a number among other things, such as `one`: it agrees, but never differs. */
  isSoft: boolean;
  /** What "12 500" is if it is not one number: "12 500-euro notes". */
  parts?: number[];
}

/** Reads the number that begins at a token. */
export function readNumber(
  tokens: readonly Token[],
  at: number,
  language: Language,
): ReadNumber | undefined {
  const read = tokens[at]!.type === "number"
    ? readDigits(tokens, at, language)
    : language === "zh" || language === "ja"
    ? readHan(tokens, at)
    : readWords(tokens, at, language);
  return read && multiply(tokens, read);
}

/** A multiplier alone needs an article before it: "a million", but not "millions of". */
export function readArticleNumber(tokens: readonly Token[], at: number): ReadNumber | undefined {
  const next = tokens[at + 1];
  if (next?.type !== "word" || !MULTIPLIERS.has(next.text)) return undefined;
  return multiply(tokens, { values: [1], next: at + 1, isSoft: false });
}

function multiply(
  tokens: readonly Token[],
  read: ReadNumber,
  { depth = 0, below = Infinity }: { depth?: number; below?: number } = {},
): ReadNumber {
  let { values, next } = read;
  let isSoft = read.isSoft;
  while (tokens[next]?.type === "word") {
    const { text, isApart } = tokens[next]!;
    const factor = MULTIPLIERS.get(text) ?? (isApart ? undefined : koreanFactor(text));
    if (factor === undefined || factor >= below || (text === "k" && isApart)) break;
    values = values.map((value) => value * factor);
    isSoft = false;
    next++;
    const tail = depth < MOST_PARTS && EAST_ASIAN.test(text)
      ? readTail(tokens, next, { factor, depth })
      : undefined;
    if (tail) {
      next = tail.next;
      values = values.map((value) => value + tail.values[0]!);
      break;
    }
    const more = readRest(tokens, next, factor);
    if (!more) continue;
    next = more.next;
    values = values.map((value) => value + more.values[0]!);
  }
  return { ...read, values, next, isSoft };
}

/** The lower part of "one hundred and twenty" and "two thousand five hundred". */
function readRest(tokens: readonly Token[], at: number, factor: number): ReadNumber | undefined {
  if (factor !== 100 && factor !== 1000) return undefined;
  const words = readWords(tokens, tokens[at]?.text === "and" ? at + 1 : at, "en");
  return words && multiply(tokens, words, { below: factor });
}

/** A word of nothing but multipliers, behind which a number may go on. */
const EAST_ASIAN = /^[千万萬亿億백천만억조]+$/;
/** Parts of such a number: `1조 2억 3만 4천`. */
const MOST_PARTS = 3;

/** The lower part of `3万5千`, `1万2000` and `12억 5천만`; in Korean a blank may stand before it. */
function readTail(
  tokens: readonly Token[],
  at: number,
  { factor, depth }: { factor: number; depth: number },
): ReadNumber | undefined {
  const first = tokens[at];
  if (!first) return undefined;
  const digits = first.type === "number" ? readDigits(tokens, at, "zh") : readHan(tokens, at);
  if (!digits) return undefined;
  const tail = multiply(tokens, digits, { depth: depth + 1 });
  const isLow = tail.values.length === 1 && tail.values[0]! < factor;
  const isJoined = !first.isApart ||
    (/^[백천만억조]/.test(tokens[at - 1]!.text) && tail.values[0]! >= 100);
  return isLow && isJoined ? tail : undefined;
}

const KOREAN = new Map([["백", 1e2], ["천", 1e3], ["만", 1e4], ["억", 1e8], ["조", 1e12]]);

/** What begins the word behind a number: `3만 원`, `5천만원입니다`; but 만큼 is "as much as". */
function koreanFactor(word: string): number | undefined {
  const [signs] = /^(?!만큼)[백천만억조]+/.exec(word) ?? [];
  if (signs === undefined) return undefined;
  return [...signs].reduce((product, sign) => product * KOREAN.get(sign)!, 1);
}

function readWords(
  tokens: readonly Token[],
  at: number,
  language: Language,
): ReadNumber | undefined {
  const table = WORDS[language];
  const token = tokens[at];
  if (!table || token?.type !== "word") return undefined;
  const value = table.get(token.text);
  if (value === undefined) return undefined;
  const joint = TENS_JOINED.get(language);
  const read: ReadNumber = { values: [value], next: at + 1, isSoft: SOFT.has(token.text) };
  if (joint !== undefined && value >= 20 && value < 100) {
    const next = tokens[at + 1]?.raw;
    const isJoined = next === "-" || next === joint;
    const ones = tokens[isJoined ? at + 2 : at + 1];
    const more = ones?.type === "word" ? table.get(ones.text) : undefined;
    if (more !== undefined && more > 0 && more < 10) {
      read.values = [value + more];
      read.next = at + (isJoined ? 3 : 2);
      read.isSoft = false;
    }
  }
  return language !== "en" && isUnclear(tokens, { at, next: read.next }, language)
    ? undefined
    : read;
}

/** Hundreds in one word, of languages that say the rest of the number in others. */
const HUNDREDS = new RegExp(
  "^(?:ciento|(?:dosc|tresc|cuatroc|quin|seisc|setec|ochoc|novec)ient[oa]s|" +
    "(?:due|tre|quattro|cinque|sei|sette|otto|nove)?cento|" +
    "(?:duz|trez|quatroc|quinh|seisc|setec|oitoc|novec)ent[oa]s|" +
    "dwieście|trzysta|czterysta|(?:pięć|sześć|siedem|osiem|dziewięć)set|" +
    "двести|триста|четыреста|(?:пять|шесть|семь|восемь|девять)сот)$",
);
const JOINTS = new Set(["-", "y", "e", "et", "og", "och"]);
/** What stands before a number that is no part of it: "un diez por ciento". */
const ARTICLES = new Set("un une una ein eine einen einem einer um uma een en ett et".split(" "));
/**
 * Hours, which may be of twelve or of twenty-four, and "due ore e mezza", by the words around them,
 * with `#` in their place.
 * German "alle" is "every".
 */
const HOURS: Partial<Record<Language, RegExp>> = {
  es:
    / (?:abr\p{L}+|abiert[oa]s?|horario|atend\p{L}+|trabaj\p{L}+)(?: \p{L}+){0,3} de (?:#|\p{L}+ a #)/u,
  it: / (?:d?alle #|le # (?:del|di (?:mattina|sera|notte)|\P{L}|$))|# \p{L}+ e mezz[oa]/u,
  pt: / às #|# \p{L}+ e mei[oa]/u,
  nl: / om #/,
  sv:
    / (?:klockan|klokken|kl) #| fr(?:ån|a) (?:# till?|\p{L}+ till? #) |# (?:hundra|hundre(?:de)?|tusen|tusind) o(?:g|ch) /u,
};

/** Whether a number is a part of one that is not read here, as in "quatre-vingt-dix", or an hour. */
function isUnclear(
  tokens: readonly Token[],
  { at, next }: { at: number; next: number },
  language: Language,
): boolean {
  const word = (index: number) => tokens[index]?.text ?? "";
  const around = [
    " ",
    ...[7, 6, 5, 4, 3, 2, 1].map((distance) => word(at - distance)),
    ...["#", word(next), word(next + 1), word(next + 2)],
  ].join(" ");
  if (HOURS[language]?.test(around)) return true;
  const valueOf = (text: string) =>
    WORDS[language]!.get(text) ?? (HUNDREDS.test(text) ? 100 : undefined);
  const isOne = (left: number | undefined, joint: string, right: number | undefined) =>
    left !== undefined && right !== undefined && (joint === "" || isJoined(left, joint, right));
  // "Entre dos y tres" are two numbers.
  const isJoined = (left: number, joint: string, right: number) =>
    joint === "-"
      ? language === "fr" && (left > right && left >= 10 || left === 4 && right === 20)
      : left > right && left >= 20;
  const jointOf = (text: string) => JOINTS.has(text) ? text : "";
  const [first, last] = [jointOf(word(at - 1)), jointOf(word(next))];
  const before = word(first ? at - 2 : at - 1);
  const left = ARTICLES.has(before) ? undefined : valueOf(before) ?? MULTIPLIERS.get(before);
  return isOne(left, first, valueOf(word(at))) ||
    isOne(valueOf(word(next - 1)), last, valueOf(word(last ? next + 1 : next)));
}

function readDigits(tokens: readonly Token[], at: number, language: Language): ReadNumber {
  let { text } = tokens[at]!;
  let next = at + 1;
  const parts = parseDigits(text, language);
  // "1 000 000,50" is one number.
  while (
    /^\d{1,3}(?: ?\d{3})*$/.test(text) && tokens[next]?.type === "number" &&
    /^\d{3}(?:[.,]\d+)?$/.test(tokens[next]!.text)
  ) {
    parts.push(...parseDigits(tokens[next]!.text, language));
    text += tokens[next++]!.text;
  }
  const mixed = readMixed(tokens, next, Number(text));
  if (mixed) return mixed;
  // In English it is rarely written so, and may be several.
  const isUnsure = language === "en" && next > at + 1;
  return {
    values: parseDigits(text, language),
    next,
    isSoft: false,
    ...(isUnsure && { parts }),
  };
}

/** "1 1/2": a whole number and a part of one. */
function readMixed(tokens: readonly Token[], at: number, whole: number): ReadNumber | undefined {
  const [above, slash, below] = [0, 1, 2].map((step) => tokens[at + step]);
  if (!Number.isInteger(whole) || above?.type !== "number" || below?.type !== "number") {
    return undefined;
  }
  if (!/^[/⁄]$/.test(slash!.raw) || slash!.isApart || below.isApart) return undefined;
  const [part, parts] = [Number(above.text), Number(below.text)];
  if (!(part < parts && parts <= MOST_PARTS_OF_ONE)) return undefined;
  return { values: [whole + part / parts], next: at + 3, isSoft: false };
}

/** Sixteenths of an inch; "12 3/25" is no amount. */
const MOST_PARTS_OF_ONE = 16;

function parseDigits(text: string, language: Language): number[] {
  const points = text.split(".").length - 1;
  const commas = text.split(",").length - 1;
  if (points === 0 && commas === 0) return [Number(text)];
  const grouped = Number(text.replace(/[.,]/g, ""));
  if (points > 0 && commas > 0) {
    const decimal = Math.max(text.lastIndexOf("."), text.lastIndexOf(","));
    return [Number(`${text.slice(0, decimal).replace(/[.,]/g, "")}.${text.slice(decimal + 1)}`)];
  }
  if (points + commas > 1) return [grouped];
  const decimal = Number(text.replace(",", "."));
  if (!/^[1-9]\d{0,2}[.,]\d{3}$/.test(text)) return [decimal];
  const isGroupMark = language === "en" || language === "zh" || language === "ja"
    ? commas > 0
    : points > 0;
  return isGroupMark ? [grouped] : [decimal, grouped];
}

const HAN = new Map([..."零一二三四五六七八九"].map((sign, value) => [sign, value]));
HAN.set("〇", 0).set("两", 2).set("兩", 2);
const HAN_UNITS = new Map([["十", 10], ["百", 100], ["千", 1000]]);
/** What is counted: a numeral before one of them is a number and not a part of a word. */
const COUNTED = new Set("天日月年个個点點時时小分元円块人次号位件台本回階周週歳岁米公%");

function readHan(tokens: readonly Token[], at: number): ReadNumber | undefined {
  let total = 0;
  let digit: number | undefined;
  let next = at;
  for (; tokens[next]; next++) {
    const { text } = tokens[next]!;
    const value = HAN.get(text);
    const unit = HAN_UNITS.get(text);
    if (value === undefined && unit === undefined) break;
    if (value !== undefined) digit = (digit ?? 0) * 10 + value;
    else {
      total += (digit ?? 1) * unit!;
      digit = undefined;
    }
  }
  if (next === at) return undefined;
  const isCounted = COUNTED.has(tokens[next]?.text ?? "");
  return { values: [total + (digit ?? 0)], next, isSoft: !isCounted };
}
