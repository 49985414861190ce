import { splitBlanks } from "../text/blanks.ts";

/** The sentence encoder reads about 90 words, and the rest of a text not at all. */
const WINDOW_WORDS = 80;
/** Against a "word" of a megabyte. */
const WORD_CHARACTERS = 40;
/** A window costs a tenth of a second: of a long text as many are read, evenly spread over it. */
export const MAX_WINDOWS = 16;

/** A text in pieces that the encoder reads whole; at least one, and at most `MAX_WINDOWS`. */
export function cutWindows(text: string): string[] {
  const windows = sample(text).flatMap(cutPart);
  if (windows.length <= MAX_WINDOWS) return windows;
  return evenly(MAX_WINDOWS, windows.length).map((index) => windows[index]!);
}

/** A very long text in parts from all over it: to cut the whole into words would block the loop. */
function sample(text: string): string[] {
  const partLength = WINDOW_WORDS * WORD_CHARACTERS;
  if (text.length <= MAX_WINDOWS * partLength) return [text];
  const last = text.length - partLength;
  return evenly(MAX_WINDOWS, last + 1).map((start) => text.slice(start, start + partLength));
}

function cutPart(text: string): string[] {
  const words = splitBlanks(text).flatMap(cutWord);
  const count = Math.max(1, Math.ceil(words.length / WINDOW_WORDS));
  return Array.from(
    { length: count },
    (_, index) => words.slice(index * WINDOW_WORDS, (index + 1) * WINDOW_WORDS).join(" "),
  );
}

/** `count` whole numbers from 0 to `length` − 1, the first and the last among them. */
function evenly(count: number, length: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.round(i * (length - 1) / (count - 1)));
}

function cutWord(word: string): string[] {
  if (word.length <= WORD_CHARACTERS) return [word];
  const pieces = Math.ceil(word.length / WORD_CHARACTERS);
  return Array.from(
    { length: pieces },
    (_, i) => word.slice(i * WORD_CHARACTERS, (i + 1) * WORD_CHARACTERS),
  );
}
