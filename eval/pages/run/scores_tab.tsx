import { Term } from "../../../shared/pages/components/tip.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { RunSummary } from "../../figures/run_summary.ts";
import type { Line } from "../../report/sections.ts";
import { PassCurves } from "../charts/curve.tsx";
import { Histogram } from "../charts/histogram.tsx";
import { IntervalChart } from "../charts/interval.tsx";
import { Section } from "../parts/section.tsx";
import { meaningOf } from "../glossary.tsx";
import { ScoreTable } from "../parts/score_table.tsx";
import { scoreLabel } from "../words.ts";
import { checkTable, spreadLines } from "../../report/tables.ts";
import { ReportTable, Words } from "../parts/report_table.tsx";
import { Labels } from "./labels.tsx";

/** Every score of a run with its interval and how it is spread, and what else was counted. */
export function ScoresTab({ summary }: { summary: RunSummary }) {
  const { check_counts = [] } = summary;
  const names = Object.keys(summary.statistics);
  const wanted = query.value.get("show") ?? "overall";
  const score = names.includes(wanted) ? wanted : names[0];
  if (score === undefined) {
    return <p class="muted">There are no scores: no reply could be compared with anything.</p>;
  }
  const choose = (name: string) => setQuery({ show: name === "overall" ? undefined : name });
  return (
    <>
      <div class="columns">
        <Section
          title="Scores"
          hint="Means over scenarios with their 95% intervals. Choose one to see how it is spread."
        >
          <Scores summary={summary} names={names} chosen={score} onChoose={choose} />
          <Missing summary={summary} />
        </Section>
        <div class="stack">
          <Section
            title={`Distribution of ${scoreLabel(score)}`}
            hint="Turns per band of the score, over all attempts"
          >
            <Histogram
              bins={summary.histograms[score] ?? []}
              threshold={score === "overall" ? summary.pass_threshold : undefined}
              label={`Distribution of ${scoreLabel(score)}`}
            />
          </Section>
          {Object.keys(summary.pass_at_k).length > 1 && (
            <Section
              title="How reliably scenarios pass"
              hint="The share of scenarios that pass at least once, and that pass every time, in so many attempts"
            >
              <PassCurves atK={summary.pass_at_k} hatK={summary.pass_hat_k} />
            </Section>
          )}
          <Spread lines={spreadLines(summary)} />
        </div>
      </div>
      {check_counts.length > 0 && (
        <Section title="Checks" hint="A turn that does not meet a required check does not pass.">
          <ReportTable
            label="Checks"
            table={checkTable(check_counts.toSorted((a, b) =>
              b.failed - a.failed
            ))}
          />
        </Section>
      )}
      <Labels labels={summary.labels} />
    </>
  );
}

function Scores({ summary, names, chosen, onChoose }: {
  summary: RunSummary;
  names: string[];
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const { statistics, score_methods } = summary;
  const of = (name: string) => statistics[name]!;
  return (
    <ScoreTable
      names={names}
      chosen={chosen}
      onChoose={onChoose}
      mark={(name) => {
        const methods = Object.keys(score_methods[name] ?? {});
        return methods.length > 1 && (
          <Term means={`Computed in several ways: ${methods.join(", ")}`}>
            {`${methods.length} methods`}
          </Term>
        );
      }}
      columns={[
        {
          label: "Mean",
          means: meaningOf("mean"),
          isNumber: true,
          cell: (name) => formatScore(of(name).mean),
        },
        {
          label: "95% interval, 0 to 1",
          means: meaningOf("95% interval"),
          isWide: true,
          cell: (name) => <IntervalChart statistic={of(name)} />,
        },
        names.some((name) => of(name).missing > 0) && {
          label: "Missing",
          isNumber: true,
          cell: (name) => of(name).missing > 0 ? formatCount(of(name).missing) : "",
        },
      ]}
    />
  );
}

function Spread({ lines }: { lines: Line[] }) {
  if (lines.length === 0) return null;
  return (
    <Section title="Spread and planning" hint="Of the overall score">
      {lines.map((line, index) => (
        <p key={index}>
          <Words line={line} />.
        </p>
      ))}
    </Section>
  );
}

const MOST = 6;

/** Which scores are missing and why, and replies that were cut. */
function Missing({ summary: { missing_scores, truncated } }: { summary: RunSummary }) {
  const remarks = missing_scores.slice(0, MOST).map(({ score, reason, turns }) =>
    `${formatNumberOf(turns, "turn")} without ${scoreLabel(score)}: ${reason}`
  );
  if (truncated > 0) {
    remarks.push(`${formatNumberOf(truncated, "reply", "replies")} cut at the token limit`);
  }
  if (remarks.length === 0) return null;
  return (
    <ul class="remarks small">{remarks.map((text) => <li key={text} dir="auto">{text}</li>)}</ul>
  );
}
