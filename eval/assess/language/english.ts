import type { LanguageDetector } from "./detector.ts";

/**
 * Whether a text is English. One that is too short to tell ("Hello") goes with `context`: the
 * references and messages of the batch, say. Without letters a text is not English.
 */
export async function isEnglish(
  text: string,
  { detector, context }: { detector: LanguageDetector; context: string },
): Promise<boolean> {
  const own = await detector.detect(text);
  if (own.isReliable) return own.code === "en";
  if (own.code === null) return false;
  const surroundings = await detector.detect(context);
  return (surroundings.isReliable ? surroundings : own).code === "en";
}
