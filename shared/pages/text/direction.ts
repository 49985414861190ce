const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Whether a text has a letter that is written from right to left. */
export function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/**
 * The direction that most letters of a paragraph have. `dir="auto"` takes that of the first one, and
 * an Arabic sentence may begin with "OK".
 */
export function directionOf(text: string): "rtl" | "ltr" {
  if (!hasRightToLeft(text)) return "ltr";
  const letters = text.match(/\p{L}/gu) ?? [];
  return letters.filter(hasRightToLeft).length * 2 > letters.length ? "rtl" : "ltr";
}
