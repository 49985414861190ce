import type { LanguageDetector } from "./detector.ts";

/**
 * Whether all of some texts are English. A text that is reliably something else decides against it;
 * one that is too short to tell ("Hello") goes with the others, and where all are, with `context`:
 * the references of the batch, say. With nothing to go by it is not English.
 */
export async function areEnglish(
  texts: string[],
  { detector, context }: { detector: LanguageDetector; context: string },
): Promise<boolean> {
  const languages = await Promise.all(texts.map((text) => detector.detect(text)));
  const reliable = languages.filter(({ isReliable }) => isReliable);
  if (reliable.length > 0) return reliable.every(({ code }) => code === "en");
  if (languages.some(({ code }) => code === null)) return false;
  if (languages.every(({ code }) => code === "en")) return true;
  const surroundings = await detector.detect(context);
  return surroundings.isReliable && surroundings.code === "en";
}
