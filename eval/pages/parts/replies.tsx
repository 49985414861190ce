import { DiffText } from "../../../shared/pages/components/diff_text.tsx";
import { Button } from "../../../shared/pages/components/button.tsx";
import { formatScore } from "../../../shared/pages/format.ts";
import type { TurnRow } from "../../run/turn_view.ts";
import { LiveLink } from "./section.tsx";
import { RESULTS, saidAt } from "../words.ts";

/** One of two texts. */
interface Side {
  label: string;
  /** Where the turn is. */
  href?: string | undefined;
  text: string;
  /** Its values that contradict the reference. */
  wrong?: string[] | undefined;
  /** Why it does not pass. */
  why?: string[] | undefined;
}

/** The reply of a turn as one of two texts. */
export function sideOf(
  label: string,
  turn: Pick<TurnRow, "interaction" | "why">,
  href?: string,
): Side {
  const { agent_reply: text = "", wrong_values: wrong } = saidAt(turn);
  return { label, href, text, wrong, why: turn.why };
}

/** Both texts side by side, each with the words that only it has. */
export function ReplyDiff({ before, after }: { before: Side; after: Side }) {
  return (
    <div class="pair">
      {[before, after].map(({ label, href, text, wrong, why }, index) => (
        <div key={index}>
          <div class="muted small">{href ? <LiveLink href={href}>{label}</LiveLink> : label}</div>
          <div class="text" role="group" aria-label={label} tabIndex={0}>
            {text
              ? (
                <DiffText
                  before={before.text || text}
                  after={after.text || text}
                  side={index === 0 ? "before" : "after"}
                  wrong={wrong}
                />
              )
              : <span class="muted">{index === 0 ? "none" : "empty"}</span>}
          </div>
          {why && <div class="why" dir="auto">{why.join(" · ")}</div>}
        </div>
      ))}
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
