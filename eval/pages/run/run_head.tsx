import type { ComponentChildren } from "preact";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import { query } from "../../../shared/pages/location.ts";
import type { Run } from "../../api/schemas/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { StatusBadge } from "../frame.tsx";
import { Explained } from "../glossary.tsx";
import { datasetText, modelOf } from "../words.ts";

/** What the run was. `crumbs` and `actions` are what a report does not have. */
export function RunHead({ run, summary, crumbs, actions }: {
  run: Run;
  summary: RunSummary;
  crumbs?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  const ended = run.finished_at ? Date.parse(run.finished_at) : undefined;
  const counted = Object.values(summary.outcomes).reduce((sum, count) => sum + count, 0);
  // Asked a second time with `history: "both"`; no count includes them.
  const again = summary.history_gap && run.status === "completed"
    ? run.progress.total - counted
    : 0;
  const facts = [
    formatDateTime(run.created_at),
    `${formatNumberOf(run.progress.total - again, "turn")}, ${
      formatNumberOf(run.attempts, "attempt")
    }`,
    again > 0 && `${formatNumberOf(again, "turn")} asked again after the references`,
    run.dataset && datasetText(run.dataset),
    ended && `took ${formatDuration(ended - Date.parse(run.created_at))}`,
    run.endpoint,
  ];
  return (
    <div class="run-head">
      {crumbs}
      <div class="page-head">
        <h2>
          <bdi>{run.test_name || "(no name)"}</bdi> <span class="muted">·</span>{" "}
          <bdi>{modelOf(run)}</bdi>
        </h2>
        {run.tags?.map((tag) => <span key={tag} class="badge tag">{tag}</span>)}
        {run.status !== "completed" && <StatusBadge run={run} hasShare={false} />}
        <span class="spacer" />
        {actions}
      </div>
      <p class="muted small">
        <Explained text={facts.filter(Boolean).join(" · ")} />
        {run.detail && run.status !== "completed" && ` · ${run.detail}`}
      </p>
    </div>
  );
}

const TABS = [
  { view: undefined, label: "Replies" },
  { view: "scenarios", label: "Scenarios" },
  { view: "scores", label: "Scores" },
  { view: "noise", label: "Noise and planning" },
  { view: "grades", label: "Grades" },
];

/** The views of a run. */
export function RunTabs() {
  const current = query.value.get("view") ?? undefined;
  return (
    <nav class="tabs" aria-label="Views of the run">
      {TABS.map(({ view, label }) => (
        <Link
          key={label}
          href={view ? `?view=${view}` : "?"}
          {...(view === current && { "aria-current": "page" as const })}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
