import type { ComponentChildren } from "preact";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query } from "../../../shared/pages/location.ts";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import type { Run } from "../../http/schemas/run_schemas.ts";
import { StatusBadge } from "../parts/status_badge.tsx";
import { Explained } from "../glossary.tsx";
import { datasetText, modelOf } from "../words.ts";
import { tryAction } from "../actions.tsx";
import { readRequest, startRun } from "../api.ts";
import { exportItems, runActions } from "../run_actions.tsx";

/** What the run was. `crumbs` and `actions` are what a report does not have. */
export function RunHead({ run, crumbs, actions }: {
  run: Run;
  crumbs?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  const ended = run.finished_at ? Date.parse(run.finished_at) : undefined;
  const facts = [
    formatDateTime(run.created_at),
    `${formatNumberOf(run.progress.total, "turn")}, ${formatNumberOf(run.attempts, "attempt")}`,
    run.dataset && datasetText(run.dataset),
    ended && `took ${formatDuration(ended - Date.parse(run.created_at))}`,
    run.endpoint ?? "scored from existing replies",
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

/** Links to the lists, the group and the earlier run that a run belongs to. */
export function RunCrumbs({ run }: { run: Run }) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <Link href="/">Runs</Link>
      <Link href={`/?test=${encodeURIComponent(run.test_name)}`}>
        Trend of <bdi>{run.test_name || "(no name)"}</bdi>
      </Link>
      {run.group_id && <Link href={`/ui/compare?group=${run.group_id}`}>Beside other models</Link>}
      {run.parent_id && (
        <>
          <Link href={`/ui/runs/${run.parent_id}`}>Earlier run</Link>
          <Link href={`/ui/compare?baseline=${run.parent_id}&candidate=${run.run_id}`}>
            Compare with it
          </Link>
        </>
      )}
    </nav>
  );
}

/** What can be done with a run. */
export function RunTools({ run, reload }: { run: Run; reload: () => void }) {
  const actions = runActions(run, () => {
    if (run.status === "running" || run.status === "interrupted") reload();
    else navigate("/");
  }, reload);
  const stop = run.status === "running" && actions.find(({ icon }) => icon === "stop");
  return (
    <>
      {stop && <Button kind="danger" icon="stop" onClick={stop.onSelect}>Stop the run</Button>}
      {run.status !== "running" && (
        <>
          <Menu
            button={{ icon: "download", children: "Export" }}
            items={exportItems(run.run_id)}
          />
          <Link class="button" href={`/ui/compare?candidate=${run.run_id}`}>
            Compare with…
          </Link>
          <Button kind="primary" onClick={() => tryAction(() => runAgain(run.run_id))}>
            Run again
          </Button>
        </>
      )}
      <Menu
        button={{ icon: "more", "aria-label": "Actions" }}
        items={actions.filter((action) => action !== stop)}
      />
    </>
  );
}

/** Starts a run with the same request. */
async function runAgain(id: string): Promise<void> {
  const { group_id: _, ...request } = await readRequest(id);
  navigate(await startRun(request));
}
