import { formatScore } from "../../../shared/pages/format.ts";
import { formatP } from "../../../shared/rounding.ts";
import type { ScoreComparison } from "../../compare/comparison.ts";
import { DifferenceChart } from "../charts/difference.tsx";
import { ScoreTable } from "../score_table.tsx";
import { differenceText, VERDICT_TONES } from "../words.ts";

/** Every score of two runs: both means, the difference with its interval, and what it is worth. */
export function ComparedScores({ scores, chosen, onChoose }: {
  scores: Record<string, ScoreComparison>;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const of = (name: string) => scores[name]!;
  const reach = Math.max(
    0.05,
    ...Object.values(scores).flatMap(({ ci95, difference }) =>
      [difference, ...ci95 ?? []].map(Math.abs)
    ),
  );
  return (
    <ScoreTable
      names={Object.keys(scores)}
      chosen={chosen}
      onChoose={onChoose}
      columns={[
        { label: "Baseline", isNumber: true, cell: (name) => formatScore(of(name).baseline) },
        { label: "Candidate", isNumber: true, cell: (name) => formatScore(of(name).candidate) },
        {
          label: "Difference",
          isNumber: true,
          cell: (name) => differenceText(of(name).difference),
        },
        {
          label: "95% interval",
          isWide: true,
          cell: (name) => (
            <DifferenceChart mean={of(name).difference} ci95={of(name).ci95} reach={reach} />
          ),
        },
        {
          label: "Adjusted p",
          isNumber: true,
          cell: (name) => formatP(of(name).p_adjusted),
        },
        {
          label: "Verdict",
          cell: (name) => (
            <span class={`badge ${VERDICT_TONES[of(name).verdict]}`} title={of(name).reason ?? ""}>
              {of(name).verdict}
            </span>
          ),
        },
      ]}
    />
  );
}
