import { splitBlanks } from "../words.ts";

/** In short ASCII words: about 90 word pieces. The encoder reads up to 96. */
const WINDOW_WORDS = 64;
/** Characters per word of a window. Outside ASCII a word piece has only a few characters. */
const ASCII_PER_WORD = 12;
const OTHERS_PER_WORD = 4;
/** In Chinese, Japanese and Korean it has one or two. */
const CJK_PER_WORD = 1.4;
const CJK = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Longer words are split, as there may be one of a megabyte. */
const WORD_CHARACTERS = 40;
/** A window takes 40 ms. Of a long text this many are read, evenly distributed. */
export const MAX_WINDOWS = 16;

/**
 * Splits a text into 1 to `MAX_WINDOWS` parts that the encoder reads completely: one if that
 * suffices, else its sentences, or several of them in a part if there are many.
 */
export function cutWindows(text: string): string[] {
  const parts = sample(text).map(readSentences);
  const windows = parts.flatMap(fillWindows);
  if (windows.length === 1) return windows;
  const sentences = parts.flat();
  if (sentences.length <= MAX_WINDOWS && sentences.every(isOneWindow)) {
    return sentences.map((words) => words.join(" "));
  }
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

/** Each as its words. */
function readSentences(text: string): string[][] {
  return sentencesOf(splitBlanks(text.replace(INNER_END, "$& ")).flatMap(cutWord));
}

function isOneWindow(sentence: string[]): boolean {
  return sizeOfAll(sentence) <= WINDOW_WORDS;
}

/** Fills windows with whole sentences. A sentence that is too long is split between words. */
function fillWindows(sentences: string[][]): string[] {
  const windows: string[][] = [[]];
  let room = WINDOW_WORDS;
  const begin = () => {
    windows.push([]);
    room = WINDOW_WORDS;
  };
  for (const sentence of sentences) {
    if (sizeOfAll(sentence) > room && room < WINDOW_WORDS) begin();
    for (const word of sentence) {
      if (sizeOf(word) > room) begin();
      windows.at(-1)!.push(word);
      room -= sizeOf(word);
    }
  }
  return windows.map((words) => words.join(" "));
}

function sizeOfAll(sentence: string[]): number {
  return sentence.reduce((sum, word) => sum + sizeOf(word), 0);
}

function sizeOf(word: string): number {
  const perWord = ASCII_ONLY.test(word)
    ? ASCII_PER_WORD
    : CJK.test(word)
    ? CJK_PER_WORD
    : OTHERS_PER_WORD;
  return Math.ceil(word.length / perWord);
}

/** No blank follows. */
const INNER_END = /[。！？](?=\S)/g;
const SENTENCE_END = /[.!?。！？…:;।؟]["'”’)\]]*$/;

function sentencesOf(words: string[]): string[][] {
  const sentences: string[][] = [[]];
  for (const word of words) {
    sentences.at(-1)!.push(word);
    if (SENTENCE_END.test(word)) sentences.push([]);
  }
  if (sentences.length > 1 && sentences.at(-1)!.length === 0) sentences.pop();
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
