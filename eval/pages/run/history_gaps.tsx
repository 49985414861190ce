import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatScore } from "../../../shared/pages/format.ts";
import type { HistoryGap } from "../../schemas/statistics.ts";
import { DifferenceChart } from "../charts/difference.tsx";
import { Section } from "../frame.tsx";
import { differenceText, overallFirst, scoreLabel } from "../words.ts";

/** What later turns lose because the model's own earlier replies were wrong. */
export function HistoryGaps({ gaps }: { gaps: Record<string, HistoryGap> }) {
  const names = overallFirst(Object.keys(gaps));
  if (names.length === 0) return null;
  const reach = Math.max(
    0.05,
    ...Object.values(gaps).flatMap(({ gap, ci95 }) => [gap, ...ci95 ?? []].map(Math.abs)),
  );
  return (
    <Section
      title="History gap"
      hint="Later turns asked after the references, against the same turns after the model's own replies"
    >
      <DataTable
        label="History gap"
        isFlat
        rows={names.map((name) => ({ name, ...gaps[name]! }))}
        keyOf={({ name }) => name}
        columns={[
          { label: "Score", cell: ({ name }) => <span class="nowrap">{scoreLabel(name)}</span> },
          {
            label: "After its replies",
            isNumber: true,
            cell: ({ generated }) => formatScore(generated),
          },
          {
            label: "After the references",
            isNumber: true,
            cell: ({ reference }) => formatScore(reference),
          },
          { label: "Gap", isNumber: true, cell: ({ gap }) => differenceText(gap) },
          {
            label: "95% interval",
            isWide: true,
            cell: ({ gap, ci95 }) => <DifferenceChart mean={gap} ci95={ci95} reach={reach} />,
          },
          { label: "Turns", isNumber: true, cell: ({ turns }) => formatCount(turns) },
        ]}
      />
    </Section>
  );
}
