import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import type { GroupPair, GroupReport } from "../../groups/group_report.ts";
import { DifferenceChart } from "../charts/difference.tsx";
import { LiveLink, Section } from "../frame.tsx";
import { meaningOf, ScoreName } from "../glossary.tsx";
import { formatP } from "../../schemas/rounding.ts";
import { comparedText, VERDICT_TONES } from "../words.ts";

/** A pair of models and one score of it. */
interface PairRow {
  pair: GroupPair;
  score: string;
}

/** Every model against every other one. */
export function GroupPairs({ group }: { group: GroupReport }) {
  const rows = (group.pairs ?? []).flatMap((pair): PairRow[] =>
    Object.keys(pair.scores).map((score) => ({ pair, score }))
  );
  const of = ({ pair, score }: PairRow) => pair.scores[score]!;
  const runOf = (name: string) => group.models.find((model) => model.name === name)?.run_id;
  const reach = Math.max(
    0.05,
    ...rows.map(of).flatMap(({ ci95, difference }) =>
      [difference ?? 0, ...ci95 ?? []].map(Math.abs)
    ),
  );
  const hasScores = new Set(rows.map(({ score }) => score)).size > 1;
  return (
    <Section
      title="Pairs"
      hint="Second minus first, corrected for all pairs"
    >
      <DataTable
        label="Pairs"
        isFlat
        class="models"
        rows={rows}
        keyOf={({ pair, score }) => JSON.stringify([pair.baseline, pair.candidate, score])}
        columns={[
          {
            label: "Pair",
            cell: ({ pair: { baseline, candidate } }) => (
              <LiveLink
                href={`/ui/compare?baseline=${runOf(baseline)}&candidate=${runOf(candidate)}`}
              >
                <span dir="auto">{baseline}</span> → <span dir="auto">{candidate}</span>
              </LiveLink>
            ),
          },
          hasScores && { label: "Score", cell: ({ score }) => <ScoreName name={score} /> },
          {
            label: "Difference",
            isNumber: true,
            cell: (row) => comparedText(of(row)),
          },
          {
            label: "p",
            means: meaningOf("p"),
            isNumber: true,
            cell: (row) => formatP(of(row).p ?? 1),
          },
          {
            label: "95% interval",
            means: meaningOf("95% interval"),
            isWide: true,
            cell: (row) => (
              <DifferenceChart mean={of(row).difference} ci95={of(row).ci95} reach={reach} />
            ),
          },
          {
            label: "Verdict",
            isMinor: true, // the headline says it
            cell: ({ pair }) => (
              <span class={`badge ${VERDICT_TONES[pair.verdict]}`} dir="auto">
                {pair.better ? `${pair.better} is better` : "inconclusive"}
              </span>
            ),
          },
        ]}
      />
    </Section>
  );
}
