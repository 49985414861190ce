import { stemmer } from "stemmer";
import { countItems, countShared, f1 } from "./overlap.ts";
import { words } from "./words.ts";

/** More words make no difference to a share, and cost time. */
const MAX_WORDS = 5000;

/** F1 over the bags of English word stems: "ships" and "shipped" are the same word. */
export function stemF1(left: string, right: string): number {
  const [found, wanted] = [left, right].map((text) => words(text).slice(0, MAX_WORDS).map(stemmer));
  return f1(countShared(countItems(found!), countItems(wanted!)), {
    found: found!.length,
    wanted: wanted!.length,
  });
}
