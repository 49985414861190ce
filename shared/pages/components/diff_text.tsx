import { type DiffPart, diffWords } from "../text/word_diff.ts";

/** The share of the shorter text below which differences are not marked. */
const LEAST_SHARED = 0.3;

/**
 * A text with its differences from another one. `side`: `after` shows what was added, `before` what
 * was removed, and `both` shows one text with both.
 */
export function DiffText({ before, after, side = "both" }: {
  before: string;
  after: string;
  side?: "before" | "after" | "both";
}) {
  const hidden = { before: "added", after: "removed", both: undefined }[side];
  const parts = diffWords(before, after);
  if (side !== "both" && !isAlike(parts, Math.min(before.length, after.length))) {
    return <div class="plain-text" dir="auto">{side === "before" ? before : after}</div>;
  }
  return (
    <div class={`plain-text ${side}`} dir="auto">
      {parts.filter(({ kind }) => kind !== hidden).map(({ kind, text }, index) => {
        if (kind === "added") return <ins key={index} class="diff">{text}</ins>;
        if (kind === "removed") return <del key={index} class="diff">{text}</del>;
        return text;
      })}
    </div>
  );
}

/** If two texts share almost nothing, marks on nearly all of both would help nobody. */
function isAlike(parts: DiffPart[], shorter: number): boolean {
  const same = parts.filter(({ kind }) => kind === "same")
    .reduce((sum, { text }) => sum + text.trim().length, 0);
  return same >= shorter * LEAST_SHARED;
}
