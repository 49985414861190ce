const AROUND = /^[\p{P}\s]+|[\p{P}\s]+$/gu;

/**
 * A text by which two are the same to a reader: NFKC, lower case, single blanks, no punctuation
 * around it. A text of nothing but punctuation keeps it.
 */
export function normalText(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  return folded.replace(AROUND, "") || folded;
}
