import { DiffText } from "../../../shared/pages/components/diff_text.tsx";
import { Button } from "../../../shared/pages/components/button.tsx";
import { formatScore } from "../../../shared/pages/format.ts";
import type { TurnRow } from "../../run/turn_view.ts";
import { RESULTS } from "../words.ts";

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

/** The attempts at a turn with their scores, to choose one. */
export function AttemptButtons({ label, attempts, score = "overall", chosen, own, onChoose }: {
  label: string;
  attempts: TurnRow[];
  score?: string;
  chosen: number | undefined;
  /** The one that the others are compared with: it cannot be chosen. */
  own?: number;
  onChoose: (attempt: number) => void;
}) {
  return (
    <div class="attempt-buttons" role="group" aria-label={label}>
      {attempts.map(({ attempt_id, scores, outcome }) => (
        <Button
          key={attempt_id}
          isSmall
          disabled={attempt_id === own}
          aria-pressed={attempt_id === chosen}
          {...(outcome && { title: RESULTS[outcome].label })}
          onClick={() => onChoose(attempt_id)}
        >
          #{attempt_id} <span class="number">{formatScore(scores[score])}</span>
        </Button>
      ))}
    </div>
  );
}
