import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query } from "../../../shared/pages/location.ts";
import type { Run } from "../../api/run_schemas.ts";
import { exportItems, runActions } from "../run_actions.tsx";
import { StatusBadge } from "../runs/runs_table.tsx";
import { source } from "../source.ts";

/** What the run was, and what can be done with it. */
export function RunHead({ run, reload }: { run: Run; reload: () => void }) {
  const ended = run.finished_at ? Date.parse(run.finished_at) : undefined;
  return (
    <div class="run-head">
      {source.isLive && (
        <nav class="crumbs" aria-label="Where you are">
          <Link href="/">Runs</Link>
          <Link href={`/?test=${encodeURIComponent(run.test_name)}`}>Trend</Link>
        </nav>
      )}
      <div class="page-head">
        <h2 dir="auto">{run.test_name || "(no name)"}</h2>
        <StatusBadge run={run} hasShare={false} />
        <span class="spacer" />
        {source.isLive && (
          <>
            {run.status !== "running" && (
              <Menu
                button={{ icon: "download", children: "Export" }}
                items={exportItems(run.run_id)}
              />
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
      <dl class="facts">
        <div>
          <dt>Model</dt>
          <dd dir="auto">{run.model_id}</dd>
        </div>
        <div>
          <dt>Endpoint</dt>
          <dd>{run.endpoint}</dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            {formatDateTime(run.created_at)}
            {ended && `, took ${formatDuration(ended - Date.parse(run.created_at))}`}
          </dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>
            {formatNumberOf(run.progress.total, "turn")}, {formatNumberOf(run.attempts, "attempt")}
          </dd>
        </div>
        {run.dataset && (
          <div>
            <dt>Dataset</dt>
            <dd>{run.dataset}</dd>
          </div>
        )}
        {run.parent_id && source.isLive && (
          <div>
            <dt>Retry of</dt>
            <dd>
              <Link href={`/ui/runs/${run.parent_id}`}>an earlier run</Link>
            </dd>
          </div>
        )}
        {run.group_id && source.isLive && (
          <div>
            <dt>Group</dt>
            <dd>
              <Link href={`/ui/groups/${run.group_id}`}>beside other models</Link>
            </dd>
          </div>
        )}
        {run.detail && (
          <div>
            <dt>Status</dt>
            <dd>{run.detail}</dd>
          </div>
        )}
      </dl>
      <RunTabs />
    </div>
  );
}

const TABS = [
  { view: undefined, label: "Overview" },
  { view: "noise", label: "Noise and planning" },
  { view: "grades", label: "Grades by people" },
];

/** The views of a run. */
function RunTabs() {
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
