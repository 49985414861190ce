import { diffWords } from "../word_diff.ts";

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
  return (
    <div dir="auto">
      {diffWords(before, after).filter(({ kind }) => kind !== hidden).map(
        ({ kind, text }, index) => {
          if (kind === "added") return <ins key={index} class="diff">{text}</ins>;
          if (kind === "removed") return <del key={index} class="diff">{text}</del>;
          return text;
        },
      )}
    </div>
  );
}
