import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { scoreLabel } from "../words.ts";

const MOST = 6;

/** What a reader should know of the turns: scores that are missing, facts that differ, cut replies. */
export function Remarks({ summary }: { summary: RunSummary }) {
  const { missing_scores, differs_in, truncated } = summary;
  const facts = Object.entries(differs_in).toSorted(([, a], [, b]) => b - a);
  const remarks = [
    ...missing_scores.slice(0, MOST).map(({ score, reason, turns }) =>
      `${formatNumberOf(turns, "turn")} without ${scoreLabel(score)}: ${reason}`
    ),
    facts.length > 0 &&
    `Replies that differ from their reference in a fact: ${
      facts.map(([kind, turns]) => `${kind} (${turns})`).join(", ")
    }`,
    truncated > 0 && `${formatNumberOf(truncated, "reply", "replies")} cut at the token limit`,
  ].filter((remark) => remark !== false);
  if (remarks.length === 0) return null;
  return (
    <details class="as-table">
      <summary>{formatNumberOf(remarks.length, "remark")} on missing scores and replies</summary>
      <ul class="remarks">
        {remarks.map((remark) => <li key={remark} dir="auto">{remark}</li>)}
      </ul>
    </details>
  );
}
