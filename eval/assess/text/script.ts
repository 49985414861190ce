/** The scripts of the languages that the model knows. */
const KNOWN =
  /[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Arab}\p{sc=Deva}\p{sc=Zyyy}]/gu;
/** Enough of a text to identify its script. */
const MAX_CHARACTERS = 2000;

/** Whether at least half of a text's letters are of a script that the model can read. */
export function isReadable(text: string): boolean {
  const letters = text.slice(0, MAX_CHARACTERS).match(/\p{L}/gu)?.join("") ?? "";
  return 2 * (letters.match(KNOWN)?.length ?? 0) >= letters.length;
}
