/** Line ends, other controls, and what turns the direction of the text after it. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** A text of at most so many characters, with an ellipsis where something is missing. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, most - 1).toWellFormed().replace(/\ufffd$/, "") + "…";
}

/** The same on one line, without anything that a terminal or a page would act on. */
export function oneLine(text: string, most: number): string {
  return shorten(text.toWellFormed().replace(UNPRINTABLE, " ").trim(), most);
}
