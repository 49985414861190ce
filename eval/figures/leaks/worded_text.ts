import { words } from "../../score/words.ts";

/** A text as its words. */
export interface WordedText {
  text: string;
  /** The words, in lower case. */
  spelt: string[];
  /** A number for each word. */
  ids: number[];
  /** The number of each word's beginning, for words that are nearly the same. */
  stems: number[];
  /** Whether a word begins a sentence, or follows a quote or a line end. */
  begins: boolean[];
}

const BOUNDARY = /[.!?:;"“”„«»\n。！？]+/u;
/** Endings are left out from here on. */
const STEM = 5;

export function toWords(text: string): WordedText {
  const spelt: string[] = [];
  const ids: number[] = [];
  const stems: number[] = [];
  const begins: boolean[] = [];
  for (const part of text.split(BOUNDARY)) {
    for (const [index, word] of words(part).entries()) {
      spelt.push(word);
      ids.push(hashOf(word));
      stems.push(hashOf(word.length > STEM ? word.slice(0, STEM) : word));
      begins.push(index === 0);
    }
  }
  return { text, spelt, ids, stems, begins };
}

function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Words of a run that counts. */
export const GRAM = 5;

/** A number for each run of 5 words. */
export function gramsOf({ ids }: WordedText): number[] {
  const grams: number[] = [];
  for (let start = 0; start + GRAM <= ids.length; start++) {
    let gram = 0;
    for (let i = start; i < start + GRAM; i++) gram = Math.imul(gram ^ ids[i]!, 0x9e3779b1) + 1;
    grams.push(gram >>> 0);
  }
  return grams;
}

/** Which words are in a run that `isShared`. */
export function markShared(worded: WordedText, isShared: (gram: number) => boolean): boolean[] {
  const marks = worded.ids.map(() => false);
  for (const [start, gram] of gramsOf(worded).entries()) {
    if (isShared(gram)) marks.fill(true, start, start + GRAM);
  }
  return marks;
}

const LONGEST = 1_500;
const PART = 1_200;
const OVERLAP = 300;

/** A long text in parts that overlap; a short one as it is. */
export function* partsOf(text: string): Generator<string> {
  if (text.length <= LONGEST) return void (yield text);
  for (let start = 0; start < text.length - OVERLAP; start += PART - OVERLAP) {
    yield text.slice(start, start + PART);
  }
}
