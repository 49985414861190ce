import type { ScoreComparison } from "../../compare/comparison.ts";
import { DifferenceChart } from "../charts/difference.tsx";
import { meaningOf } from "../glossary.tsx";
import { ScoreTable } from "../parts/score_table.tsx";
import { comparedText, meanText } from "../words.ts";

/** Every score of two runs: both means, and the difference with its interval. */
export function ComparedScores({ scores, chosen, onChoose }: {
  scores: Record<string, ScoreComparison>;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const of = (name: string) => scores[name]!;
  const reach = Math.max(
    0.05,
    ...Object.values(scores).flatMap(({ ci95, difference }) =>
      [difference ?? 0, ...ci95 ?? []].map(Math.abs)
    ),
  );
  return (
    <ScoreTable
      names={Object.keys(scores)}
      chosen={chosen}
      onChoose={onChoose}
      columns={[
        { label: "Baseline", isNumber: true, cell: (name) => sideText(of(name), "baseline") },
        { label: "Candidate", isNumber: true, cell: (name) => sideText(of(name), "candidate") },
        {
          label: "Difference",
          isNumber: true,
          cell: (name) => comparedText(of(name)),
        },
        {
          label: "95% interval",
          means: meaningOf("95% interval"),
          isWide: true,
          cell: (name) => (
            <DifferenceChart mean={of(name).difference} ci95={of(name).ci95} reach={reach} />
          ),
        },
      ]}
    />
  );
}

function sideText(score: ScoreComparison, side: "baseline" | "candidate"): string {
  return meanText({ mean: score[side], bounds: score.bounds?.[side] ?? null });
}
