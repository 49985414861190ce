/** The first `maxLength` UTF-16 units of a text, one less if that would cut a character in two. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
}
