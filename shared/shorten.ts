/**
 * The start of a text, at most `maxLength` UTF-16 units with `ending`, which marks that something is
 * missing. No character is cut in two.
 */
export function shorten(text: string, maxLength: number, ending = ""): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, maxLength - ending.length).replace(/[\uD800-\uDBFF]$/, "") + ending;
}
