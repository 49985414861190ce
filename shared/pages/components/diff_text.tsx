import { diffArrays } from "diff/array";
import { directionOf, hasRightToLeft } from "../text/direction.ts";

/** The share of the shorter text below which differences are not marked. */
const LEAST_SHARED = 0.3;

/**
 * A text with its differences from another one: `after` shows what was added, `before` what was
 * removed. `wrong` are values such as `14 instead of 4711`, whose words are marked as wrong, also if
 * both texts have them; other differences are neither good nor bad.
 */
export function DiffText({ before, after, side, wrong = [] }: {
  before: string;
  after: string;
  side: "before" | "after";
  wrong?: string[] | undefined;
}) {
  const hidden = side === "before" ? "added" : "removed";
  const parts = diffWords(before, after);
  const isMarked = isAlike(parts, Math.min(before.length, after.length));
  const text = side === "before" ? before : after;
  const shown: DiffPart[] = isMarked
    ? parts.filter(({ kind }) => kind !== hidden)
    : [{ kind: "same", text }];
  const Mark = side === "before" ? "del" : "ins";
  const wrongWords = wrongWordsOf(wrong);
  const isInBoth = !shown.some(({ kind, text }) => kind !== "same" && wrongWords.test(text));
  return (
    <div class="plain-text">
      {linesOf(shown).map((line, index) => (
        <div
          key={index}
          dir={directionOf(line.map(({ text }) => text).join(""))}
        >
          {line.map(({ kind, text }) =>
            kind === "same" && !isInBoth
              ? text
              : text.split(wrongWords).map((piece, index) =>
                index % 2 === 0 && kind === "same"
                  ? piece
                  : piece && (
                    <Mark key={index} class={index % 2 ? "diff wrong" : "diff"}>{piece}</Mark>
                  )
              )
          )}
          {line.every(({ text }) => text === "") && <br />}
        </div>
      ))}
    </div>
  );
}

/** The paragraphs of a text, each of which has its direction. */
function linesOf(parts: DiffPart[]): DiffPart[][] {
  if (!parts.some(({ text }) => hasRightToLeft(text))) return [parts];
  const lines: DiffPart[][] = [[]];
  for (const { kind, text } of parts) {
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      lines.at(-1)!.push({ kind, text: line });
    }
  }
  return lines;
}

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+([.,][\p{N}]+)*/gu) ?? [];

/** Finds the words in which wrong values differ: of `14 days instead of 30 days` only the numbers. */
function wrongWordsOf(wrong: string[]): RegExp {
  const words = wrong.flatMap((text) => {
    const [own = [], expected = []] = text.split(" instead of ").map(wordsOf);
    return [...own, ...expected].filter((word) => !own.includes(word) || !expected.includes(word));
  });
  if (words.length === 0) return /(?!)/; // nowhere
  const either = words.map((word) => word.replaceAll(".", "\\.")).join("|");
  return new RegExp(`(?<![\\p{L}\\p{N}]|\\p{N}[.,])(${either})(?![\\p{L}\\p{N}]|[.,]\\p{N})`, "u");
}

/** False if two texts share so little that almost all of both would be marked. */
function isAlike(parts: DiffPart[], shorter: number): boolean {
  const same = parts.filter(({ kind }) => kind === "same")
    .reduce((sum, { text }) => sum + text.trim().length, 0);
  return same >= shorter * LEAST_SHARED;
}

/** A part of a text: in both, only in the new one (`added`), or only in the old one (`removed`). */
interface DiffPart {
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
