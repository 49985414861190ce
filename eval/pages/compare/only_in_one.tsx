import { formatCount, formatNumberOf } from "../../../shared/pages/format.ts";
import type { Unpaired } from "../../compare/comparison.ts";
import type { StoredComparison } from "../../compare/compare_stored.ts";
import { Section } from "../frame.tsx";
import { scoreLabel } from "../words.ts";

/** The most names in one list. */
export const MOST_NAMES = 100;

/** What was not compared, because one run lacks it or computed it otherwise. */
export function OnlyInOne({ comparison }: { comparison: StoredComparison }) {
  const { only_in_baseline, only_in_candidate, left_out } = comparison;
  const isNothing = ({ scenarios, turns, scores }: Unpaired) =>
    scenarios.length + turns.length + scores.length === 0;
  if (isNothing(only_in_baseline) && isNothing(only_in_candidate) && left_out.length === 0) {
    return null;
  }
  return (
    <Section title="Not compared">
      <div class="columns even">
        <Side label="Only in the baseline" unpaired={only_in_baseline} />
        <Side label="Only in the candidate" unpaired={only_in_candidate} />
      </div>
      {left_out.length > 0 && (
        <ul class="bare-list small">
          {left_out.map(({ score, reason, turns, detail }, index) => (
            <li key={index}>
              <strong>{scoreLabel(score)}</strong> at {formatNumberOf(turns, "turn")}:{" "}
              {reason.replaceAll("_", " ")}
              {detail && ` (${detail})`}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Side({ label, unpaired: { scenarios, turns, scores } }: {
  label: string;
  unpaired: Unpaired;
}) {
  const parts: [string, string[]][] = [
    ["Scenarios", scenarios],
    ["Turns", turns.map(({ scenario_id, interaction_id }) => `${scenario_id}: ${interaction_id}`)],
    ["Scores", scores.map(scoreLabel)],
  ];
  const there = parts.filter(([, names]) => names.length > 0);
  return (
    <div>
      <h4>{label}</h4>
      {there.length === 0 && <p class="muted small">nothing</p>}
      {there.map(([what, names]) => (
        <p key={what} class="small">
          <span class="muted">{what} ({formatCount(names.length)}):</span>{" "}
          <span dir="auto">
            {names.slice(0, MOST_NAMES).join(", ")}
            {names.length > MOST_NAMES ? "…" : ""}
          </span>
        </p>
      ))}
    </div>
  );
}
