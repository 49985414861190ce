import { formatCount, formatScore } from "../../../shared/pages/format.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { IntervalChart } from "../charts/interval.tsx";
import { ScoreTable } from "../score_table.tsx";

/** Every score of a run with its interval. */
export function ScoresSection({ summary, chosen, onChoose }: {
  summary: RunSummary;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const { statistics, score_methods } = summary;
  const of = (name: string) => statistics[name]!;
  const hasMissing = Object.values(statistics).some(({ missing }) => missing > 0);
  return (
    <ScoreTable
      names={Object.keys(statistics)}
      chosen={chosen}
      onChoose={onChoose}
      mark={(name) => {
        const methods = Object.keys(score_methods[name] ?? {});
        return methods.length > 1 && (
          <span class="badge warn" title={methods.join(", ")}>{methods.length} methods</span>
        );
      }}
      columns={[
        { label: "Mean", isNumber: true, cell: (name) => formatScore(of(name).mean) },
        {
          label: "95% interval, 0 to 1",
          isWide: true,
          cell: (name) => <IntervalChart statistic={of(name)} />,
        },
        hasMissing && {
          label: "Missing",
          isNumber: true,
          cell: (name) => of(name).missing > 0 ? formatCount(of(name).missing) : "",
        },
      ]}
    />
  );
}
