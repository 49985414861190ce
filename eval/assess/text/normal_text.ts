/** Found by what is inside: a search for punctuation at the end would read long rows again and again. */
const INSIDE = /[^\p{P}\s](?:.*[^\p{P}\s])?/su;

/**
 * A text by which two are the same to a reader: NFKC, lower case, single blanks, no punctuation
 * around it. A text of nothing but punctuation keeps it.
 */
export function normalText(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  return INSIDE.exec(folded)?.[0] ?? folded;
}
