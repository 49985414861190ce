/**
 * The start of a text, at most `maxLength` UTF-16 units with `ending`, which marks that something is
 * missing. No character is cut in two. The text itself may be collected: the result is a copy.
 */
export function shorten(text: string, maxLength: number, ending = ""): string {
  if (text.length <= maxLength) return text;
  const start = text.slice(0, maxLength - ending.length).replace(/[\uD800-\uDBFF]$/, "");
  // In V8 a slice refers to the whole text. Slicing a concatenation copies it first.
  return ` ${start}${ending}`.slice(1);
}

/** `1 turn`, `2 turns`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Random hexadecimal digits, 32 at most. */
export function randomHex(length = 32): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, length);
}
