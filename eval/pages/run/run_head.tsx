import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query } from "../../../shared/pages/location.ts";
import type { Run } from "../../api/run_schemas.ts";
import { readRequest, startRun } from "../api.ts";
import { Explained } from "../glossary.tsx";
import { exportItems, runActions, tryAction } from "../run_actions.tsx";
import { StatusBadge } from "../runs/runs_table.tsx";
import { source } from "../source.ts";
import { datasetText } from "../words.ts";

/** What the run was, and what can be done with it. */
export function RunHead({ run, reload }: { run: Run; reload: () => void }) {
  const ended = run.finished_at ? Date.parse(run.finished_at) : undefined;
  const facts = [
    formatDateTime(run.created_at),
    `${formatNumberOf(run.progress.total, "turn")}, ${formatNumberOf(run.attempts, "attempt")}`,
    run.dataset && datasetText(run.dataset),
    ended && `took ${formatDuration(ended - Date.parse(run.created_at))}`,
    run.endpoint,
  ];
  return (
    <div class="run-head">
      {source.isLive && (
        <nav class="crumbs" aria-label="Where you are">
          <Link href="/">Runs</Link>
          <Link href={`/?test=${encodeURIComponent(run.test_name)}`}>
            <bdi>{run.test_name || "(no name)"}</bdi>, trend
          </Link>
          {run.group_id && <Link href={`/ui/groups/${run.group_id}`}>Beside other models</Link>}
          {run.parent_id && <Link href={`/ui/runs/${run.parent_id}`}>Retry of an earlier run</Link>}
        </nav>
      )}
      <div class="page-head">
        <h2>
          <bdi>{run.test_name || "(no name)"}</bdi> <span class="muted">·</span>{" "}
          <bdi>{run.model_id}</bdi>
        </h2>
        {run.status !== "completed" && <StatusBadge run={run} hasShare={false} />}
        <span class="spacer" />
        {source.isLive && (
          <>
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
              items={runActions(run, () => {
                if (run.status === "running" || run.status === "interrupted") reload();
                else navigate("/");
              })}
            />
          </>
        )}
      </div>
      <p class="muted small">
        <Explained text={facts.filter(Boolean).join(" · ")} />
        {run.detail && run.status !== "completed" && ` · ${run.detail}`}
      </p>
    </div>
  );
}

/** Starts the same again. */
async function runAgain(id: string): Promise<void> {
  const { group_id: _, ...request } = await readRequest(id);
  navigate(await startRun(request));
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
