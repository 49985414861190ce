import { splitBlanks } from "../text/blanks.ts";

/** The sentence encoder reads 256 word pieces: safely so many short words of ASCII letters. */
const WINDOW_WORDS = 80;
/** A longer word counts as several. Other letters are seldom in one piece with the next. */
const ASCII_PER_WORD = 12;
const OTHERS_PER_WORD = 3;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Against a "word" of a megabyte. */
const WORD_CHARACTERS = 40;
/** A window costs 40 ms: of a long text as many are read, evenly spread over it. */
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
  const windows: string[][] = [[]];
  let room = WINDOW_WORDS;
  for (const word of splitBlanks(text).flatMap(cutWord)) {
    const size = Math.ceil(
      word.length / (ASCII_ONLY.test(word) ? ASCII_PER_WORD : OTHERS_PER_WORD),
    );
    if (size > room) {
      windows.push([]);
      room = WINDOW_WORDS;
    }
    windows.at(-1)!.push(word);
    room -= size;
  }
  return windows.map((words) => words.join(" "));
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
