import { DiffText } from "../../../shared/pages/components/diff_text.tsx";

/** Both texts side by side, each with the words that only it has. */
export function ReplyDiff({ reply, reference, wrong, labels = ["Reference", "Reply"] }: {
  reply: string;
  reference: string;
  wrong?: string[] | undefined;
  labels?: [string, string];
}) {
  return (
    <div class="pair">
      <div>
        <div class="muted small">{labels[0]}</div>
        <div class="text" role="group" aria-label={labels[0]} tabIndex={0}>
          {reference
            ? <DiffText before={reference} after={reply} side="before" wrong={wrong} />
            : <span class="muted">none</span>}
        </div>
      </div>
      <div>
        <div class="muted small">{labels[1]}</div>
        <div class="text" role="group" aria-label={labels[1]} tabIndex={0}>
          {reply
            ? <DiffText before={reference || reply} after={reply} side="after" wrong={wrong} />
            : <span class="muted">empty</span>}
        </div>
      </div>
    </div>
  );
}
