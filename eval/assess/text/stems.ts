import { stemmer } from "stemmer";
import { rememberLast } from "../background/remember_last.ts";
import { countItems, countShared, f1 } from "./overlap.ts";
import { words } from "./words.ts";

/** Of a longer text the beginning is compared: to cut a megabyte into words blocks the loop. */
const MAX_CHARACTERS = 20_000;

/** Words are few and come again; texts are many. */
const REMEMBERED = 5000;
/** A longer piece of a text may keep the whole text in memory. */
const LONGEST_WORD = 12;

/** The stem of an English word in lower case. */
export const stem = rememberLast(stemmer, REMEMBERED, { longest: LONGEST_WORD });

/** F1 over the bags of English word stems: "ships" and "shipped" are the same word. */
export function stemF1(left: string, right: string): number {
  const [found, wanted] = [stems(left), stems(right)];
  return f1(countShared(countItems(found), countItems(wanted)), {
    found: found.length,
    wanted: wanted.length,
  });
}

function stems(text: string): string[] {
  return words(text.slice(0, MAX_CHARACTERS)).map(stem);
}
