import { useSignal } from "@preact/signals";
import { Icon } from "../../../shared/pages/components/icon.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { Run } from "../../api/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { PassCurves } from "../charts/curve.tsx";
import { Histogram } from "../charts/histogram.tsx";
import { Section } from "../frame.tsx";
import { source } from "../source.ts";
import { scoreLabel } from "../words.ts";
import { CheckCounts } from "./checks.tsx";
import { Headline } from "./headline.tsx";
import { Labels } from "./labels.tsx";
import { HistoryGaps } from "./history_gaps.tsx";
import { LiveRun } from "./live_run.tsx";
import { Remarks } from "./remarks.tsx";
import { ScoresSection } from "./scores_section.tsx";
import { Stability } from "./stability.tsx";
import { Turns } from "./turns.tsx";

/** A run from its headline down to its turns. */
export function RunOverview({ run, summary, reload }: {
  run: Run;
  summary: RunSummary;
  reload: () => void;
}) {
  const names = Object.keys(summary.statistics);
  const wanted = query.value.get("show") ?? "overall";
  const score = names.includes(wanted) ? wanted : names[0];
  const round = useSignal(0);
  const known = Object.values(summary.outcomes).reduce((sum, turns) => sum + turns, 0);
  return (
    <>
      {summary.notes.map(({ code, detail }) => (
        <div key={code} class="notice warn" role="note">
          <Icon name="warning" />
          <div>{detail}</div>
        </div>
      ))}
      {source.isLive && run.status === "running" && (
        <LiveRun
          run={run}
          onEnd={reload}
          onTurns={(done) => {
            round.value++;
            if (done >= 2 * known) reload(); // few times, however many turns there are
          }}
        />
      )}
      {(score !== undefined || run.status !== "running") && (
        <Headline
          run={run}
          summary={summary}
        />
      )}
      <Remarks summary={summary} />
      {score !== undefined && (
        <div class="columns">
          <Section
            title="Scores"
            hint="Means over scenarios with their 95% intervals. Choose one to see how it is spread."
          >
            <ScoresSection
              summary={summary}
              chosen={score}
              onChoose={(name) => setQuery({ show: name === "overall" ? undefined : name })}
            />
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
              <Section title="Passing again" hint="The share of scenarios passed in k attempts">
                <PassCurves atK={summary.pass_at_k} hatK={summary.pass_hat_k} />
              </Section>
            )}
          </div>
        </div>
      )}
      <Stability run={run} summary={summary} />
      <CheckCounts counts={summary.check_counts ?? []} />
      <HistoryGaps gaps={summary.history_gap ?? {}} />
      <Labels labels={summary.labels} />
      <Turns run={run} summary={summary} round={round.value} />
    </>
  );
}
