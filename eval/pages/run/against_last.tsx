import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { StoredComparison } from "../../compare/compare_stored.ts";
import { decidingScore } from "../compare/compare_words.ts";
import { Explained } from "../glossary.tsx";
import { LiveLink } from "../frame.tsx";
import { formatP } from "../../schemas/rounding.ts";
import { comparedText, modelOf, VERDICT_TONES } from "../words.ts";

/** The verdict against the last run of the same test, in one sentence. */
export function AgainstLast({ comparison }: { comparison: StoredComparison }) {
  const { baseline, candidate, verdict, scores, changed } = comparison;
  const name = decidingScore(comparison);
  const score = name === undefined ? undefined : scores[name];
  if (!score) return null;
  const tone = VERDICT_TONES[verdict];
  const by = comparedText(score, 3);
  return (
    <span class="against">
      Against <bdi>{modelOf(baseline)}</bdi>, the last run of this test:{" "}
      <LiveLink href={`/ui/compare?baseline=${baseline.run_id}&candidate=${candidate.run_id}`}>
        <strong class={tone && `${tone}-text`}>{verdict}</strong>
      </LiveLink>
      {verdict === "inconclusive" ? ` (${by}, ` : ` by ${by} (`}
      <Explained text={`p ${formatP(score.p ?? 1)}).`} />
      {changed.length > 0 && (
        <strong>
          {` ${formatNumberOf(changed.length, "scenario")} changed between the runs.`}
        </strong>
      )}
    </span>
  );
}
