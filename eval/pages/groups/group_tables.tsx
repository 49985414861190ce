import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCompact, formatCount, formatDuration } from "../../../shared/pages/format.ts";
import type { GroupModel, GroupPair, GroupReport } from "../../groups/group_report.ts";
import { formatP } from "../../schemas/rounding.ts";
import { DifferenceChart, reachOf } from "../charts/difference.tsx";
import { IntervalChart } from "../charts/interval.tsx";
import { LiveLink, Section } from "../parts/section.tsx";
import { StatusBadge } from "../parts/status_badge.tsx";
import { meaningOf, ScoreName } from "../glossary.tsx";
import {
  comparedText,
  costText,
  intervalText,
  meanText,
  overallFirst,
  overallOf,
  rateText,
  VERDICT_TONES,
  whyNoScore,
} from "../words.ts";

/** The models with their headline. */
export function GroupModels({ group: { models } }: { group: GroupReport }) {
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
              return meanText(overall ?? model.progress) + mark;
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
export function GroupScores({ group: { models } }: { group: GroupReport }) {
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

function byScore(a: GroupModel, b: GroupModel): number {
  const isWhole = ({ status }: GroupModel) => Number(status === "completed");
  return isWhole(b) - isWhole(a) || leastOverall(b) - leastOverall(a);
}

function leastOverall(model: GroupModel): number {
  const overall = overallOf(model);
  return overall?.bounds?.[0] ?? overall?.mean ?? -1;
}

function Mean({ statistic }: { statistic: NonNullable<GroupModel["scores"]>[string] | undefined }) {
  if (!statistic) return <span class="muted">–</span>;
  return (
    <>
      {meanText(statistic)}
      {statistic.ci95 && <div class="muted small">{intervalText(statistic.ci95)}</div>}
    </>
  );
}

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
  const reach = reachOf(
    rows.map(of).flatMap(({ ci95, difference }) => [difference, ...ci95 ?? []]),
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
