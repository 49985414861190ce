import { counted, shorten } from "../../../shared/service/text.ts";
import type { CostSum } from "../../test/cost.ts";

/** How a report is formatted: for a pull request's comment, or for a terminal. */
export interface TextForm {
  title(text: string, level: 1 | 2): string;
  lines(lines: string[]): string;
  /** A line with lines below it. */
  item(line: string, below: string[]): string;
  /** Text of others, made harmless. */
  name(text: string): string;
  /** The same for a message: if it is cut, then in the middle, because the reason is at its end. */
  message(text: string): string;
  /** The first column is a name, the others are numbers; a name must have been made harmless. */
  table(header: string[], rows: string[][]): string;
}

/** A score in [0, 1]; a dash if there is none. */
export function showScore(value: number | null | undefined): string {
  return typeof value === "number" ? value.toFixed(3) : "–";
}

/** A difference with its sign; what rounds to zero has none. */
export function showDifference(value: number): string {
  const text = value.toFixed(3);
  return Number(text) === 0 ? "0.000" : value > 0 ? `+${text}` : text;
}

/** An interval of a difference, or of what else `show` shows; a dash if there is none. */
export function showInterval(
  ci95: readonly [number, number] | null | undefined,
  show: (value: number) => string = showDifference,
): string {
  return ci95 ? ci95.map(show).join(" … ") : "–";
}

/** An amount of money for people, and how much of it is not known. */
export function showCost({ amount, currency, unknown }: CostSum): string {
  const known = amount === null ? "unknown" : `${roundAmount(amount)} ${currency}`;
  return amount === null || unknown === 0
    ? known
    : `${known}, and ${counted(unknown, "turn")} of unknown cost`;
}

/** Four significant digits; two decimals from 100 on. */
function roundAmount(amount: number): number {
  return Number(amount < 100 ? amount.toPrecision(4) : amount.toFixed(2));
}

/** Line ends, other control characters, and characters that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** A text on one line, without anything that a terminal or a page would act on; `…` if it is cut. */
export function oneLine(text: string, maxLength: number): string {
  return shorten(text.toWellFormed().replace(UNPRINTABLE, " ").trim(), maxLength, "…");
}

/** The same, cut in the middle. */
export function oneLineEnds(text: string, maxLength: number): string {
  const line = oneLine(text, Infinity);
  if (line.length <= maxLength) return line;
  const half = Math.floor((maxLength - 3) / 2);
  const end = line.slice(-half).replace(/^[\uDC00-\uDFFF]/, "");
  return `${shorten(line, half)} … ${end}`;
}

/** A text on its own lines, without anything else that a terminal would act on. */
export function printable(text: string): string {
  return text.toWellFormed().split("\n").map((line) => line.replace(UNPRINTABLE, " ")).join("\n");
}
