import { Term } from "../../../shared/pages/components/tip.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import type { RunSummary } from "../../figures/run_summary.ts";
import type { CheckCount } from "../../test/checks.ts";
import type { HistoryGap } from "../../test/statistics.ts";
import { PassCurves } from "../charts/curve.tsx";
import { Histogram } from "../charts/histogram.tsx";
import { DifferenceChart, reachOf } from "../charts/difference.tsx";
import { IntervalChart } from "../charts/interval.tsx";
import { Section } from "../parts/section.tsx";
import { meaningOf } from "../glossary.tsx";
import { ScoreTable } from "../parts/score_table.tsx";
import { differenceText, overallFirst, scoreLabel } from "../words.ts";
import { spreadLines } from "../../report/text/spread_text.ts";
import { Labels } from "./labels.tsx";

/** Every score of a run with its interval and how it is spread, and what else was counted. */
export function ScoresTab({ summary }: { summary: RunSummary }) {
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
      <CheckCounts counts={summary.check_counts ?? []} />
      <HistoryGaps gaps={summary.history_gap ?? {}} />
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

function Spread({ lines }: { lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <Section title="Spread and planning" hint="Of the overall score">
      {lines.map((line) => <p key={line}>{line}.</p>)}
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

/** How often each check of a run was met, the least met first. */
function CheckCounts({ counts }: { counts: CheckCount[] }) {
  if (counts.length === 0) return null;
  return (
    <Section title="Checks" hint="A turn that does not meet a required check does not pass.">
      <DataTable
        label="Checks"
        isFlat
        rows={counts.toSorted((a, b) => b.failed - a.failed)}
        keyOf={({ type, name }) => `${type} ${name}`}
        columns={[
          {
            label: "Check",
            cell: ({ name, required }) => (
              <>
                <span dir="auto">{name}</span> {required && <span class="badge">required</span>}
              </>
            ),
          },
          { label: "Met", isNumber: true, cell: ({ passed }) => formatCount(passed) },
          {
            label: "Not met",
            isNumber: true,
            cell: ({ failed }) => (
              <span class={failed > 0 ? "bad-text" : ""}>{formatCount(failed)}</span>
            ),
          },
          { label: "Missing", isNumber: true, cell: ({ missing }) => formatCount(missing) },
        ]}
      />
    </Section>
  );
}

/** What later turns lose because the model's own earlier replies were wrong. */
function HistoryGaps({ gaps }: { gaps: Record<string, HistoryGap> }) {
  const names = overallFirst(Object.keys(gaps));
  if (names.length === 0) return null;
  const reach = reachOf(Object.values(gaps).flatMap(({ gap, ci95 }) => [gap, ...ci95 ?? []]));
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
