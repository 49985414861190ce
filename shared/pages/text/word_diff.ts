import { diffArrays } from "diff";

/** A part of a text: in both, only in the new one (`added`), or only in the old one (`removed`). */
export interface DiffPart {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Above this many words the whole text is one change. */
const MAX_WORDS = 20_000;

/**
 * The words in which two texts differ. Words are those of the text's language, also where they are
 * not separated by blanks.
 */
export function diffWords(before: string, after: string): DiffPart[] {
  if (before === after) return before ? [{ kind: "same", text: before }] : [];
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  const old = splitWords(segmenter, before);
  const now = splitWords(segmenter, after);
  const changes = old.length + now.length > MAX_WORDS
    ? undefined
    : diffArrays(old, now, { timeout: 1_000 });
  if (!changes) return wholeChange(before, after);
  return changes.map(({ added, removed, value }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value.join(""),
  }));
}

function splitWords(segmenter: Intl.Segmenter, text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function wholeChange(before: string, after: string): DiffPart[] {
  const parts: DiffPart[] = [{ kind: "removed", text: before }, { kind: "added", text: after }];
  return parts.filter(({ text }) => text !== "");
}
