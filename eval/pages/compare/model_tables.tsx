import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import {
  formatCompact,
  formatCount,
  formatDuration,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { ComparedRun, Comparison } from "../../figures/compare_stored.ts";
import { IntervalChart } from "../charts/interval.tsx";
import { LiveLink, Section } from "../parts/section.tsx";
import { StatusBadge } from "../parts/status_badge.tsx";
import { meaningOf, ScoreName } from "../glossary.tsx";
import { costText, intervalText, overallFirst, overallOf, rateText, whyNoScore } from "../words.ts";

/** The models with their headline. */
export function Models({ comparison: { runs: models } }: { comparison: Comparison }) {
  const hasCost = models.some(({ cost }) => cost);
  return (
    <Section title="Models" hint="Mean overall score with its 95% interval; the best first">
      <DataTable
        label="Models"
        isFlat
        class="models"
        rows={models.toSorted(byScore)}
        keyOf={({ run_id }) => run_id}
        columns={[
          {
            label: "Model",
            cell: ({ name, run_id }) => <LiveLink href={`/ui/runs/${run_id}`}>{name}</LiveLink>,
          },
          { label: "Status", cell: (model) => <StatusBadge run={model} /> },
          {
            label: "Score",
            isNumber: true,
            cell: (model) => {
              const overall = overallOf(model);
              if (!overall && model.scores) return `none: ${whyNoScore(model.progress)}`;
              const mark = model.status === "completed" ? "" : " so far";
              return formatScore((overall ?? model.progress).mean) + mark;
            },
          },
          {
            label: "95% interval, 0 to 1",
            means: meaningOf("95% interval"),
            isWide: true,
            cell: (model) => {
              const overall = overallOf(model);
              return overall && <IntervalChart statistic={overall} />;
            },
          },
          {
            label: "Passed",
            isNumber: true,
            cell: ({ pass_rate }) => pass_rate ? rateText(pass_rate.mean) : "–",
          },
          {
            label: "Failed calls",
            isNumber: true,
            isMinor: true,
            cell: ({ progress: { failed } }) => formatCount(failed),
          },
          {
            label: "Tokens",
            isNumber: true,
            isMinor: true,
            cell: ({ usage }) =>
              usage ? formatCompact(usage.input_tokens + usage.output_tokens) : "–",
          },
          {
            label: "Latency",
            isNumber: true,
            isMinor: true,
            cell: ({ latency_ms }) => latency_ms ? formatDuration(latency_ms.p50) : "–",
          },
          hasCost && {
            label: "Cost",
            isNumber: true,
            isMinor: true,
            cell: ({ cost }) => costText(cost) ?? "–",
          },
        ]}
      />
    </Section>
  );
}

/** Every score of every model. */
export function ModelScores({ comparison: { runs: models } }: { comparison: Comparison }) {
  const names = overallFirst([
    ...new Set(models.flatMap(({ scores }) => Object.keys(scores ?? {}))),
  ]);
  if (names.length === 0) return null;
  return (
    <Section title="Scores" hint="Means over scenarios; their 95% intervals below">
      <DataTable
        label="Scores by model"
        isFlat
        class="by-model"
        rows={names}
        keyOf={(name) => name}
        columns={[
          { label: "Score", cell: (name) => <ScoreName name={name} /> },
          ...models.map((model) => ({
            label: model.name,
            isNumber: true,
            cell: (name: string) => <Mean statistic={model.scores?.[name]} />,
          })),
        ]}
      />
    </Section>
  );
}

function byScore(a: ComparedRun, b: ComparedRun): number {
  const isWhole = ({ status }: ComparedRun) => Number(status === "completed");
  return isWhole(b) - isWhole(a) || (overallOf(b)?.mean ?? -1) - (overallOf(a)?.mean ?? -1);
}

function Mean(
  { statistic }: { statistic: NonNullable<ComparedRun["scores"]>[string] | undefined },
) {
  if (!statistic) return <span class="muted">–</span>;
  return (
    <>
      {formatScore(statistic.mean)}
      {statistic.ci95 && <div class="muted small">{intervalText(statistic.ci95)}</div>}
    </>
  );
}
