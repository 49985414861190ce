import { Button } from "../../../shared/pages/components/button.tsx";
import { formatScore } from "../../../shared/pages/format.ts";
import type { TurnRow } from "../../run/events/turn_view.ts";
import { RESULTS } from "../words.ts";

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
