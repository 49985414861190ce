import { useEffect } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { navigate, useSubject } from "../../../shared/pages/location.ts";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import type { ComparedPair } from "../../figures/comparison.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import { formatP } from "../../test/rounding.ts";
import { source } from "../source.ts";
import { StatusBadge } from "../parts/status_badge.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { Explained } from "../glossary.tsx";
import {
  adviceOn,
  asSentence,
  comparedText,
  datasetText,
  differenceText,
  errorText,
} from "../words.ts";
import { comparisonExports, groupActions } from "./group_actions.tsx";
import { ReplyGrid } from "./reply_grid.tsx";
import { Models, ModelScores, Pairs } from "./model_tables.tsx";

/** How often runs are read again while they are running. */
const BUSY_MS = 2_000;

/** Several models on the same conversations: their scores, and which is better. */
export function ModelsView({ selected }: { selected: Record<string, string> }) {
  const loaded = useLoaded(() => source.comparison(selected), Object.values(selected));
  useSubject(loaded.value?.runs[0]?.test_name);
  useEffect(() => {
    if (loaded.value?.status !== "running") return;
    const timer = setTimeout(loaded.reload, BUSY_MS);
    return () => clearTimeout(timer);
  }, [loaded.value, loaded.problem]);
  return (
    <Shown
      loaded={loaded}
      what="the runs"
      elsewhere={<Link class="button small" href="/">All runs</Link>}
    >
      {(comparison) => (
        <ModelsBody
          comparison={comparison}
          crumbs={
            <nav class="crumbs" aria-label="Where you are">
              <Link href="/">Runs</Link>
            </nav>
          }
          actions={<Actions comparison={comparison} selected={selected} reload={loaded.reload} />}
          replies={comparison.status !== "running" && <ReplyGrid comparison={comparison} />}
        />
      )}
    </Shown>
  );
}

function Actions({ comparison, selected, reload }: {
  comparison: Comparison;
  selected: Record<string, string>;
  reload: () => void;
}) {
  const actions = groupActions(comparison, { changed: reload, deleted: () => navigate("/") });
  return (
    <>
      {comparison.status !== "running" && (
        <Menu
          button={{ icon: "download", children: "Export" }}
          items={comparisonExports(selected)}
        />
      )}
      {actions.length > 0 && (
        <Menu button={{ icon: "more", "aria-label": "Actions" }} items={actions} />
      )}
    </>
  );
}

interface BodyProps {
  comparison: Comparison;
  /** What is before and beside the name; nothing in a report. */
  crumbs?: ComponentChildren;
  actions?: ComponentChildren;
  /** The replies of all models; nothing in a report. */
  replies?: ComponentChildren;
}

/** Several models without the frame of the page. */
export function ModelsBody({ comparison, replies, ...head }: BodyProps) {
  return (
    <>
      <Head comparison={comparison} {...head} />
      <Outcome comparison={comparison} />
      {replies
        ? (
          <>
            {replies}
            <details class="card raw">
              <summary>Intervals, pairs and all scores</summary>
              <Figures comparison={comparison} />
            </details>
          </>
        )
        : <Figures comparison={comparison} />}
    </>
  );
}

function Figures({ comparison }: { comparison: Comparison }) {
  return (
    <div class="stack">
      <Models comparison={comparison} />
      {comparison.pairs && comparison.pairs.length > 0 && <Pairs comparison={comparison} />}
      <ModelScores comparison={comparison} />
    </div>
  );
}

function Head({ comparison, crumbs, actions }: Omit<BodyProps, "replies">) {
  const { runs, status, progress } = comparison;
  const { test_name, attempts, dataset } = runs[0]!;
  const began = Math.min(...runs.map(({ created_at }) => Date.parse(created_at)));
  const ends = runs.map(({ finished_at }) => finished_at ? Date.parse(finished_at) : Infinity);
  const ended = Math.max(...ends);
  const facts = [
    formatDateTime(new Date(began).toISOString()),
    formatNumberOf(runs.length, "model"),
    formatNumberOf(attempts, "attempt"),
    dataset && datasetText(dataset),
    comparison.group_id && ended < Infinity && `took ${formatDuration(ended - began)}`,
  ];
  return (
    <div class="run-head">
      {crumbs}
      <div class="page-head">
        <h2 dir="auto">{test_name || "(no name)"}</h2>
        {status !== "completed" && (
          <StatusBadge run={{ status, progress, detail: null }} hasShare={false} />
        )}
        <span class="spacer" />
        {actions}
      </div>
      <p class="muted small">
        <Explained text={facts.filter(Boolean).join(" · ")} />
      </p>
    </div>
  );
}

/** Which model is best, and each pair's difference; or how far the runs are. */
function Outcome({ comparison }: { comparison: Comparison }) {
  const { best, runs: models, progress, pairs } = comparison;
  if (!best) {
    return (
      <section class="card section live" aria-label="Progress">
        <p class="sentence">
          {progress.done} of {formatNumberOf(progress.total, "turn")} done
        </p>
        <progress max={progress.total} value={progress.done} aria-label="Finished turns" />
      </section>
    );
  }
  const isDecided = best.length === 1 && models.length > 1;
  const errors = models.flatMap((model) => model.errors.map((error) => ({ model, error })));
  return (
    <div class={isDecided ? "verdict good" : "verdict"}>
      <p class="sentence" dir="auto">
        {describeBest(best, comparison)}
      </p>
      {pairs && pairs.length > 0 && (
        <ul class="bare-list muted">
          {pairs.slice(0, MOST_PAIRS).map((pair) => (
            <li key={`${pair.baseline} ${pair.candidate}`} dir="auto">
              <Explained text={describePair(pair, comparison.decided_by)} />
            </li>
          ))}
        </ul>
      )}
      {errors.slice(0, 2).map(({ model, error }) => (
        <p key={model.run_id} class="first-error" role="note" dir="auto">
          <strong>{`${model.name}: ${formatNumberOf(error.turns, "call")} failed: `}</strong>
          {errorText(error.detail)}. {adviceOn(error)}
        </p>
      ))}
    </div>
  );
}

/** Which model is better, or that none clearly is; of how many models, on how many scenarios. */
function describeBest(best: string[], { runs: models, pairs }: Comparison): string {
  if (best.length === 0) return "No run has been completed.";
  if (models.length === 1) return `${best[0]} is the only model.`;
  const scenarios = Math.max(
    0,
    ...(pairs ?? []).flatMap(({ scores }) =>
      Object.values(scores).map(({ scenarios }) => scenarios)
    ),
  );
  const on = scenarios > 0 ? ` on ${formatNumberOf(scenarios, "scenario")}` : "";
  const isPair = models.length === 2;
  if (best.length === models.length) {
    const none = isPair ? "Neither model" : `None of the ${models.length} models`;
    const [nearest] = (pairs ?? []).toSorted((a, b) => sizeOf(b) - sizeOf(a));
    const why = nearest?.reason ? ` ${asSentence(nearest.reason)}` : "";
    return `${none} is clearly better${on}.${why}`;
  }
  if (best.length > 1) {
    return `The best of the ${models.length} models${on} is one of these: ${best.join(", ")}.`;
  }
  const other = models.find(({ name }) => name !== best[0])!.name;
  return `${best[0]} is better than ${
    isPair ? other : `the ${models.length - 1} other models`
  }${on}.`;
}

function sizeOf({ scores }: ComparedPair): number {
  return Math.abs(Object.values(scores)[0]?.difference ?? 0); // the deciding one is first
}

/** The most pairs in the headline; the table of pairs has all. */
const MOST_PAIRS = 6;

function describePair(
  { baseline, candidate, better, scores }: ComparedPair,
  decidedBy: string,
): string {
  const score = scores[decidedBy];
  if (!score) return `${candidate} against ${baseline}: they cannot be compared`;
  const p = formatP(score.p ?? 1);
  if (better === null || score.difference === null) {
    return `${candidate} against ${baseline}: ${comparedText(score, 3)} (p ${p})`;
  }
  const worse = better === candidate ? baseline : candidate;
  return `${better} against ${worse}: ${differenceText(Math.abs(score.difference), 3)} (p ${p})`;
}
