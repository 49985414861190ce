import type { ComponentChildren } from "preact";
import { TableFrame } from "../../../shared/pages/components/data_table.tsx";
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
import { ScoreName } from "../glossary.tsx";
import { costText, intervalText, overallFirst, overallOf, rateText, whyNoScore } from "../words.ts";

interface Row {
  label: ComponentChildren;
  cell: (model: ComparedRun) => ComponentChildren;
}

/** Every figure of every model. */
export function ModelTable({ comparison: { runs: models } }: { comparison: Comparison }) {
  const found = models.flatMap(({ scores }) => Object.keys(scores ?? {}));
  const names = overallFirst([...new Set(found)].filter((name) => name !== "overall"));
  const rows: (Row | false)[] = [
    { label: "Status", cell: (model) => <StatusBadge run={model} /> },
    { label: <ScoreName name="overall" />, cell: (model) => <Overall model={model} /> },
    ...names.map((name): Row => ({
      label: <ScoreName name={name} />,
      cell: ({ scores }) => scores?.[name] ? <Mean statistic={scores[name]} /> : "–",
    })),
    { label: "Passed", cell: ({ pass_rate }) => pass_rate ? rateText(pass_rate.mean) : "–" },
    { label: "Failed calls", cell: ({ progress: { failed } }) => formatCount(failed) },
    {
      label: "Tokens",
      cell: ({ usage }) => usage ? formatCompact(usage.input_tokens + usage.output_tokens) : "–",
    },
    {
      label: "Latency",
      cell: ({ latency_ms }) => latency_ms ? formatDuration(latency_ms.p50) : "–",
    },
    models.some(({ cost }) => cost) &&
    { label: "Cost", cell: ({ cost }) => costText(cost) ?? "–" },
  ];
  return (
    <Section title="Scores" hint="Means over scenarios; their 95% interval is below">
      <TableFrame label="Models" isFlat class="by-model">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            {models.map(({ name, run_id }) => (
              <th key={run_id} scope="col" class="number">
                <LiveLink href={`/ui/runs/${run_id}`}>{name}</LiveLink>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.filter((row) => row !== false).map(({ label, cell }, index) => (
            <tr key={index}>
              <th scope="row">{label}</th>
              {models.map((model) => <td key={model.run_id} class="number">{cell(model)}</td>)}
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </Section>
  );
}

function Overall({ model }: { model: ComparedRun }) {
  const overall = overallOf(model);
  if (!overall && model.scores) return <>none: {whyNoScore(model.progress)}</>;
  if (!overall) return <>{formatScore(model.progress.mean)} so far</>;
  return (
    <>
      <Mean statistic={overall} />
      <IntervalChart statistic={overall} />
    </>
  );
}

function Mean({ statistic }: { statistic: NonNullable<ComparedRun["scores"]>[string] }) {
  return (
    <>
      {formatScore(statistic.mean)}
      {statistic.ci95 && <div class="muted small">{intervalText(statistic.ci95)}</div>}
    </>
  );
}
