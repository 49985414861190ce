import { splitBlanks } from "../text/words.ts";

/**
 * In short ASCII words: about 90 word pieces. The encoder reads up to 256, and the layers that
 * compare two texts were trained with 96.
 */
const WINDOW_WORDS = 64;
/** Characters per word of a window. Outside ASCII a word piece has only a few characters. */
const ASCII_PER_WORD = 12;
const OTHERS_PER_WORD = 3;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Longer words are split, as there may be one of a megabyte. */
const WORD_CHARACTERS = 40;
/** A window takes 40 ms. Of a long text this many are read, evenly distributed. */
export const MAX_WINDOWS = 16;

/** Splits a text into 1 to `MAX_WINDOWS` parts that the encoder reads completely. */
export function cutWindows(text: string): string[] {
  const windows = sample(text).flatMap(cutPart);
  if (windows.length <= MAX_WINDOWS) return windows;
  return evenly(MAX_WINDOWS, windows.length).map((index) => windows[index]!);
}

/** Samples a very long text: splitting all of it into words would block the event loop. */
function sample(text: string): string[] {
  const partLength = WINDOW_WORDS * WORD_CHARACTERS;
  if (text.length <= MAX_WINDOWS * partLength) return [text];
  const last = text.length - partLength;
  return evenly(MAX_WINDOWS, last + 1).map((start) => text.slice(start, start + partLength));
}

/** Fills windows with whole sentences. A sentence that is too long is split between words. */
function cutPart(text: string): string[] {
  const windows: string[][] = [[]];
  let room = WINDOW_WORDS;
  const begin = () => {
    windows.push([]);
    room = WINDOW_WORDS;
  };
  for (const sentence of sentencesOf(splitBlanks(text).flatMap(cutWord))) {
    const size = sentence.reduce((sum, word) => sum + sizeOf(word), 0);
    if (size > room && room < WINDOW_WORDS) begin();
    for (const word of sentence) {
      if (sizeOf(word) > room) begin();
      windows.at(-1)!.push(word);
      room -= sizeOf(word);
    }
  }
  return windows.map((words) => words.join(" "));
}

function sizeOf(word: string): number {
  return Math.ceil(word.length / (ASCII_ONLY.test(word) ? ASCII_PER_WORD : OTHERS_PER_WORD));
}

const SENTENCE_END = /[.!?。！？…:;]["'”’)\]]*$/;

function sentencesOf(words: string[]): string[][] {
  const sentences: string[][] = [[]];
  for (const word of words) {
    sentences.at(-1)!.push(word);
    if (SENTENCE_END.test(word)) sentences.push([]);
  }
  return sentences;
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
