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
const stem = rememberLast(stemmer, REMEMBERED, { longest: LONGEST_WORD });

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

const MOST_WORDS = 4;
const CAPITALISED = /^\p{P}*[\p{Lu}\p{N}]/u;
/** What stands inside of names in lower case: `da`, `von`, `of`. */
const PARTICLE = /^\p{Ll}{1,3}$/u;
const SENTENCE_END = /[.!?]$/;
const CASED = /[\p{Lu}\p{Ll}]/u;
/** Of scripts without capitals two words may be a name; more are a sentence. */
const MOST_WITHOUT_CAPITALS = 2;

/**
 * Whether a text is a single word or looks like a name: `oxygen`, `Leonardo da Vinci`, `東京`.
 *
 * ```ts
 * import { assert } from "@std/assert";
 *
 * assert(isName("Leonardo da Vinci") && !isName("Der Himmel ist blau."));
 * ```
 */
export function isName(text: string): boolean {
  const count = words(text).length;
  if (count <= 1) return true;
  if (!CASED.test(text)) return count <= MOST_WITHOUT_CAPITALS;
  const parts = text.trim().split(/\s+/u);
  return parts.length <= MOST_WORDS && !SENTENCE_END.test(parts.at(-1)!) &&
    CAPITALISED.test(parts.at(-1)!) &&
    parts.every((part) => CAPITALISED.test(part) || PARTICLE.test(part));
}
