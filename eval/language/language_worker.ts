/**
 * Language detection in a thread of its own: its word lists take a good part of a second to load,
 * and the service answers in the meantime.
 */
import { serveCalls } from "../../shared/background/serve_calls.ts";
import type { Language } from "./detector.ts";

serveCalls(async (texts: string[]): Promise<Language[]> => {
  const { eld } = await import("eld/large");
  return texts.map((text) => {
    const found = eld.detect(text);
    return { code: found.language || null, isReliable: found.isReliable() };
  });
});
