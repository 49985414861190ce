import type { ComponentChildren } from "preact";
import {
  formatCompact,
  formatCount,
  formatDuration,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import type { RunSummary } from "../../figures/run_summary.ts";
import type { ComparedRun, Comparison } from "../../figures/compare_stored.ts";
import { formatP } from "../../test/rounding.ts";
import { Explained } from "../glossary.tsx";
import { LiveLink } from "../parts/section.tsx";
import {
  adviceOn,
  CONTRADICTING,
  costText,
  decidingScore,
  differenceText,
  errorText,
  intervalText,
  modelOf,
  scoreLabel,
  sumOf,
  VERDICT_TONES,
} from "../words.ts";
import { useLoaded } from "../loaded.tsx";
import { type RunAndSummary, source } from "../source.ts";
import { toParameters } from "./turn/turn_query.ts";

/** The result in one sentence, the verdict against the last run, and why calls failed. */
export function Headline({ run, summary, before }: RunAndSummary & {
  before: Run | undefined;
}) {
  const { scenarios, outcomes, errors, truncated } = summary;
  const all = sumOf(scenarios);
  const notScored = scenarios.unscored;
  const first = errors[0];
  const isKnown = all > notScored;
  const ids = before && isKnown ? { baseline: before.run_id, candidate: run.run_id } : undefined;
  const { value: comparison, problem } = useLoaded(
    () => ids ? source.comparison(ids) : Promise.resolve(undefined),
    [ids],
  );
  const verdict = comparison ? VERDICT_TONES[comparison.pairs![0]!.verdict] : "";
  const tone = verdict || (isKnown && scenarios.passed === all ? "good" : "");
  return (
    <section class={`card head-card ${tone}`} aria-label="Result">
      <div class="head-text">
        <p class="sentence">
          {outcomes.failed > 0 && outcomes.failed === sumOf(outcomes)
            ? "All calls failed"
            : isKnown
            ? describePassing(run, summary)
            : "There is no score"}
        </p>
        <p class="muted">
          {isKnown ? <Mean summary={summary} /> : whyNothing(summary)}
          {truncated > 0 &&
            ` ${formatNumberOf(truncated, "reply", "replies")} cut off at the token limit.`}{" "}
          {comparison
            ? <AgainstLast comparison={comparison} />
            : ids && !problem && "Comparing with the last run…"}
        </p>
        {source.isLive && isKnown && <WithoutLeaks id={run.run_id} />}
        {first && (
          <p class="first-error" role="note">
            <strong>
              {`${formatNumberOf(outcomes.failed, "call")} failed: `}
            </strong>
            <span dir="auto">{errorText(first.detail)}</span>
            {first.turns < outcomes.failed && ` (${formatCount(first.turns)} of them)`}.{" "}
            {adviceOn(first)}
          </p>
        )}
        {isKnown && (
          <Classes
            counts={[
              {
                name: "always",
                count: scenarios.passed,
                text: run.attempts > 1 ? "always pass" : "pass",
              },
              { name: "sometimes", count: scenarios.sometimes, text: "pass sometimes" },
              {
                name: "never",
                count: scenarios.failed,
                text: run.attempts > 1 ? "never pass" : "do not pass",
              },
              { name: "unknown", count: notScored, text: whyUnknown(summary) },
            ]}
          />
        )}
      </div>
      <Figures run={run} summary={summary} />
    </section>
  );
}

/** The mean without what training files have, if the scenarios were checked. */
function WithoutLeaks({ id }: { id: string }) {
  const { value } = useLoaded(() => source.leaks!(id), [id]);
  if (!value || value.checks.length === 0) return null;
  const { checks, clean, leaked } = value;
  const against = formatNumberOf(checks.length, "training file");
  return (
    <p class="muted">
      {leaked.scenarios === 0
        ? `No leak was found in ${against}.`
        : `Mean ${formatScore(clean.mean)} over ${
          formatNumberOf(clean.scenarios, "clean scenario")
        }, ${formatScore(leaked.mean)} over ${formatNumberOf(leaked.scenarios, "leaked one")} ` +
          `(${against}).`}
    </p>
  );
}

function describePassing(run: Run, { scenarios }: RunSummary): string {
  const all = sumOf(scenarios);
  const passed = `${formatCount(scenarios.passed)} of ${formatNumberOf(all, "scenario")} pass`;
  const verb = scenarios.passed === 1 || all === 1 ? "es" : "";
  return `${passed}${verb}${run.attempts > 1 ? " in every attempt" : ""}`;
}

function Mean({ summary: { statistics } }: { summary: RunSummary }) {
  const { mean = null, ci95 = null, missing = 0 } = statistics.overall ?? {};
  const interval = ci95 ? ` (95% interval ${intervalText(ci95)})` : "";
  const zeros = missing > 0 ? ` ${formatNumberOf(missing, "turn")} without a score count 0.` : "";
  return <Explained text={`Mean ${formatScore(mean)}${interval}.${zeros}`} />;
}

/** Why a run has no score at all, in one sentence. */
function whyNothing({ outcomes, missing_scores, errors }: RunSummary): string {
  const turns = sumOf(outcomes);
  if (turns === 0) return "No turn was asked.";
  if (outcomes.failed === turns) return "No call was answered.";
  const missing = missing_scores.find(({ score }) => score !== "overall") ?? missing_scores[0];
  if (missing) return `The ${scoreLabel(missing.score)} is missing: ${missing.reason}.`;
  if (errors.length > 0) return "The calls that were answered have nothing to be compared with.";
  return "The scenarios have no reference replies, labels or checks: nothing was expected.";
}

/** Why some scenarios are in no class. */
function whyUnknown({ outcomes, errors, missing_scores }: RunSummary): string {
  const [error] = errors;
  const [missing] = missing_scores;
  if (error) return `not scored: ${formatNumberOf(outcomes.failed, "failed call")}`;
  return missing ? `not known: no ${scoreLabel(missing.score)}` : "not scored";
}

/** The classes of scenarios as a bar with its legend. */
function Classes({ counts }: { counts: { name: string; count: number; text: string }[] }) {
  const shown = counts.filter(({ count }) => count > 0);
  return (
    <>
      <div class="class-bar" aria-hidden="true">
        {shown.map(({ name, count }) => (
          <span key={name} class={name} style={{ flexGrow: String(count) }} />
        ))}
      </div>
      <ul class="legend classes" aria-label="Scenarios">
        {shown.map(({ name, count, text }) => (
          <li key={name}>
            <i class={`key ${name}`} />
            {`${formatCount(count)} ${text}`}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Further figures, with links to their turns. */
function Figures({ run, summary }: RunAndSummary) {
  const {
    outcomes,
    usage,
    latency_ms,
    first_token_ms,
    agreements,
    check_counts = [],
    cost,
    judge_cost,
  } = summary;
  const tokens = usage.input_tokens + usage.output_tokens;
  const turns = sumOf(outcomes);
  // The label also counts replies that a judge accepts.
  const { value: contradicting = 0 } = useLoaded(async () => {
    if (!agreements?.contradicts) return 0;
    return (await source.turns(run.run_id, toParameters({ ...CONTRADICTING, limit: "1" }))).total ??
      0;
  }, [run.run_id, agreements]);
  const sum = (pick: (count: typeof check_counts[number]) => number) =>
    check_counts.reduce((sum, count) => sum + pick(count), 0);
  const money = [cost, judge_cost].map(costText).filter((text) => text !== undefined);
  return (
    <dl class="figures-grid">
      {outcomes.failed < turns && (
        <Figure
          label="Contradict the reference"
          isBad={contradicting > 0}
          href={`?${new URLSearchParams(CONTRADICTING)}`}
        >
          {contradicting > 0 ? formatNumberOf(contradicting, "turn") : "none found"}
        </Figure>
      )}
      <Figure label="Failed calls" isBad={outcomes.failed > 0} href="?outcome=failed">
        {`${formatCount(outcomes.failed)} of ${formatCount(turns)}`}
      </Figure>
      {check_counts.length > 0 && (
        <Figure
          label="Checks not met"
          isBad={sum(({ failed }) => failed) > 0}
          href="?view=scores"
        >
          {`${formatCount(sum(({ failed }) => failed))} of ${
            formatCount(sum(({ failed, passed }) => failed + passed))
          }`}
        </Figure>
      )}
      {money.length > 0
        ? (
          <Figure label={money.length > 1 ? "Cost: model, judge" : "Cost"}>
            {money.join(", ")}
          </Figure>
        )
        : (
          <Figure label="Tokens">
            {tokens > 0 ? formatCompact(tokens) : "not reported"}
          </Figure>
        )}
      <Figure label="Latency: median, 95 % below">
        {latency_ms ? `${formatDuration(latency_ms.p50)}, ${formatDuration(latency_ms.p95)}` : "–"}
      </Figure>
      {first_token_ms && (
        <Figure label="First token: median, 95 % below">
          {formatDuration(first_token_ms.p50)}, {formatDuration(first_token_ms.p95)}
        </Figure>
      )}
      <Figure label="Scored by">
        <span class="small">{scoredBy(summary)}</span>
      </Figure>
    </dl>
  );
}

const PARTS = ["judge", "agreement", "semantic_similarity", "checks", "metadata_match", "tools"];

function scoredBy({ statistics }: RunSummary): string {
  const parts = PARTS.filter((name) => {
    const { turns = 0, failed = 0 } = statistics[name] ?? {};
    return turns > failed;
  });
  return parts.map(scoreLabel).join(", ") || "nothing";
}

function Figure({ label, isBad, href, children }: {
  label: string;
  isBad?: boolean;
  /** Where the turns are; only if there are any. */
  href?: string;
  children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={isBad ? "bad-text" : ""}>
        {isBad && href ? <LiveLink href={href}>{children}</LiveLink> : children}
      </dd>
    </div>
  );
}

/** The verdict against the last run of the same test, in one sentence. */
function AgainstLast({ comparison }: { comparison: Comparison }) {
  const [baseline, candidate] = comparison.runs as [ComparedRun, ComparedRun];
  const { verdict, scores, changed } = comparison.pairs![0]!;
  const name = decidingScore(comparison);
  const score = name === undefined ? undefined : scores[name];
  if (!score) return null;
  const tone = VERDICT_TONES[verdict];
  const by = differenceText(score.difference, 3);
  return (
    <span class="against">
      Against <bdi>{modelOf(baseline)}</bdi>, the last run of this test:{" "}
      <LiveLink href={`/ui/compare?baseline=${baseline.run_id}&candidate=${candidate.run_id}`}>
        <strong class={tone && `${tone}-text`}>{verdict}</strong>
      </LiveLink>
      {verdict === "inconclusive" ? ` (${by}, ` : ` by ${by} (`}
      <Explained text={`p ${formatP(score.p ?? 1)}).`} />
      {changed.length > 0 && (
        <strong>
          {` ${formatNumberOf(changed.length, "scenario")} changed between the runs.`}
        </strong>
      )}
    </span>
  );
}
