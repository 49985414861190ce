import { shorten } from "../../../shared/text.ts";

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
