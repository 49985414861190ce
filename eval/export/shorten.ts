/** A text of at most so many characters, with an ellipsis where something is missing. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, most - 1).toWellFormed().replace(/\ufffd$/, "") + "…";
}
