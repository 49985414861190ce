import type { ComponentChildren } from "preact";
import {
  formatChosen,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoney,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { Run } from "../../api/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { IntervalChart } from "../charts/interval.tsx";
import { boundsText, intervalText } from "../words.ts";

/** The four numbers that people look for first. */
export function Headline({ run, summary }: { run: Run; summary: RunSummary }) {
  const { statistics, scenarios, outcomes, usage, latency_ms, pass_rate, errors } = summary;
  const overall = statistics.overall;
  const decided = scenarios.passed + scenarios.below + scenarios.undecided;
  const tokens = usage.input_tokens + usage.output_tokens;
  return (
    <div class="tiles">
      <Tile
        label="Mean score"
        value={formatScore(overall?.mean)}
        note={overall?.ci95
          ? `95% interval ${intervalText(overall.ci95)}, ${formatNumberOf(overall.n, "scenario")}`
          : formatNumberOf(overall?.n ?? 0, "scenario") +
            (overall?.n === 1 ? ", too few for an interval" : "")}
      >
        {overall && <IntervalChart statistic={overall} />}
        {overall?.bounds && <p class="muted small">{boundsText(overall)}</p>}
      </Tile>
      <Tile
        label="Scenarios passed"
        value={`${formatCount(scenarios.passed)} / ${formatCount(decided)}`}
        note={pass_rate
          ? `${formatScore(pass_rate.mean * 100, 0)}% of ${
            summary.undecided > 0 ? "decided " : ""
          }attempts reach ${formatChosen(summary.pass_threshold)}`
          : `passing is ${formatChosen(summary.pass_threshold)} or more`}
      >
        {scenarios.undecided > 0 && (
          <p class="muted small">
            {formatCount(scenarios.undecided)} undecided: scores are missing
          </p>
        )}
      </Tile>
      <Tile
        label="Failed calls"
        value={formatCount(outcomes.failed)}
        isBad={outcomes.failed > 0}
        note={errors.length > 0
          ? errors.slice(0, 2).map(({ code, turns }) => `${turns} × ${code}`).join(", ")
          : `of ${formatNumberOf(run.progress.done, "turn")}`}
      >
        {overall && overall.mean_of_answered !== null && overall.mean !== null &&
          overall.failed > 0 && (
          <p class="muted small">{formatScore(overall.mean_of_answered)} without them</p>
        )}
      </Tile>
      <Tile
        label="Tokens"
        value={tokens > 0 ? formatCompact(tokens) : "–"}
        note={latency_ms
          ? `latency ${formatDuration(latency_ms.p50)} median, ${
            formatDuration(latency_ms.p95)
          } p95`
          : ""}
      >
        <p class="muted small">
          {tokens > 0
            ? `${formatCompact(usage.input_tokens)} in, ${formatCompact(usage.output_tokens)} out`
            : "the endpoint reported none"}
        </p>
        <Costs summary={summary} />
      </Tile>
    </div>
  );
}

/** What the run cost, if the service knows prices. */
function Costs({ summary: { cost, judge_cost } }: { summary: RunSummary }) {
  const text = (sum: RunSummary["cost"]) =>
    sum && sum.amount !== null && sum.currency !== null
      ? formatMoney({ amount: sum.amount, currency: sum.currency })
      : undefined;
  const [model, judge] = [text(cost), text(judge_cost)];
  if (!model && !judge) return null;
  const unknown = (cost?.unknown ?? 0) + (judge_cost?.unknown ?? 0);
  return (
    <p class="muted small">
      {[model && `${model} model`, judge && `${judge} judge`].filter(Boolean).join(", ")}
      {unknown > 0 && `, ${formatNumberOf(unknown, "call")} of unknown cost`}
    </p>
  );
}

function Tile({ label, value, note, isBad, children }: {
  label: string;
  value: string;
  note: string;
  isBad?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <div class="card tile">
      <div class="muted small">{label}</div>
      <div class={isBad ? "tile-value bad-text" : "tile-value"}>{value}</div>
      {children}
      <div class="muted small">{note}</div>
    </div>
  );
}
