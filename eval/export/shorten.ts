import { shorten } from "../../shared/shorten.ts";

/** Line ends, other control characters, and characters that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** A text on one line, without anything that a terminal or a page would act on; `…` if it is cut. */
export function oneLine(text: string, maxLength: number): string {
  return shorten(text.toWellFormed().replace(UNPRINTABLE, " ").trim(), maxLength, "…");
}
