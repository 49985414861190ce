import type { LanguageDetector } from "./detector.ts";

/**
 * Whether all of some texts are English. A text that is reliably something else decides against it;
 * one that is too short to tell ("Hello") goes with the others, and if all are, with `context`: the
 * references and messages of the batch, say. Without letters a text is not English.
 */
export async function areEnglish(
  texts: string[],
  { detector, context }: { detector: LanguageDetector; context: string },
): Promise<boolean> {
  const languages = await Promise.all(texts.map((text) => detector.detect(text)));
  const reliable = languages.filter(({ isReliable }) => isReliable);
  if (reliable.length > 0) return reliable.every(({ code }) => code === "en");
  if (languages.some(({ code }) => code === null)) return false;
  const surroundings = await detector.detect(context);
  if (surroundings.isReliable) return surroundings.code === "en";
  return languages.every(({ code }) => code === "en");
}
