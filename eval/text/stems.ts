import { stemmer } from "stemmer";
import { countItems, countShared, f1 } from "./overlap.ts";
import { words } from "./words.ts";

/** Of a longer text the beginning is compared: to cut a megabyte into words blocks the loop. */
const MAX_CHARACTERS = 20_000;

/** F1 over the bags of English word stems: "ships" and "shipped" are the same word. */
export function stemF1(left: string, right: string): number {
  const [found, wanted] = [left, right].map((text) =>
    words(text.slice(0, MAX_CHARACTERS)).map(stemmer)
  );
  return f1(countShared(countItems(found!), countItems(wanted!)), {
    found: found!.length,
    wanted: wanted!.length,
  });
}
