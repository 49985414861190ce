import type { WordedText } from "./worded_text.ts";

/** A text, and which of its words many rows share. */
interface MarkedText {
  worded: WordedText;
  shared: boolean[];
}

/**
 * The longest run of words that both texts have. Words that many rows share do not count.
 * `isWhole`: it is all of a sentence of the other text, or what is left of it without those words.
 */
export function longestRun(
  own: MarkedText,
  other: MarkedText,
): { length: number; isWhole: boolean } {
  const [a, b] = [own.worded.ids, other.worded.ids];
  /** How many words until here both have, and how many of them count. */
  let runs = new Int32Array(b.length + 1);
  let counts = new Int32Array(b.length + 1);
  let longest = { length: 0, isWhole: false };
  for (let i = 0; i < a.length; i++) {
    const nextRuns = new Int32Array(b.length + 1);
    const nextCounts = new Int32Array(b.length + 1);
    for (let j = 0; j < b.length; j++) {
      if (a[i] !== b[j]) continue;
      const run = nextRuns[j + 1] = runs[j]! + 1;
      const length = nextCounts[j + 1] = counts[j]! + (own.shared[i] ? 0 : 1);
      const isLonger = length > longest.length;
      if (!isLonger && (length < longest.length || longest.isWhole)) continue;
      const isWhole = isEdge(other, j + 1 - run) && isEdge(other, j + 1);
      if (isLonger || isWhole) longest = { length, isWhole };
    }
    [runs, counts] = [nextRuns, nextCounts];
  }
  return longest;
}

/** Whether a sentence begins or ends before a word, or what many rows share. */
function isEdge({ worded: { ids, begins }, shared }: MarkedText, at: number): boolean {
  return at === 0 || at === ids.length || begins[at]! || shared[at - 1]! || shared[at]!;
}
