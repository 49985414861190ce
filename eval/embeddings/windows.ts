import { splitBlanks } from "../text/blanks.ts";

/** The sentence encoder reads about 90 words, and the rest of a text not at all. */
const WINDOW_WORDS = 80;
/** Against a "word" of a megabyte. */
const WORD_CHARACTERS = 40;
/** A window costs a tenth of a second: of a long text as many are read, evenly spread over it. */
export const MAX_WINDOWS = 16;

/** A text in pieces that the encoder reads whole; at least one, and at most `MAX_WINDOWS`. */
export function cutWindows(text: string): string[] {
  const words = splitBlanks(text).flatMap(cutWord);
  const count = Math.max(1, Math.ceil(words.length / WINDOW_WORDS));
  const taken = Math.min(count, MAX_WINDOWS);
  return Array.from({ length: taken }, (_, index) => {
    const window = taken === 1 ? 0 : Math.round(index * (count - 1) / (taken - 1));
    return words.slice(window * WINDOW_WORDS, (window + 1) * WINDOW_WORDS).join(" ");
  });
}

function cutWord(word: string): string[] {
  if (word.length <= WORD_CHARACTERS) return [word];
  const pieces = Math.ceil(word.length / WORD_CHARACTERS);
  return Array.from(
    { length: pieces },
    (_, i) => word.slice(i * WORD_CHARACTERS, (i + 1) * WORD_CHARACTERS),
  );
}
