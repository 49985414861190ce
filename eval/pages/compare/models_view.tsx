import { useEffect } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu, type MenuItem } from "../../../shared/pages/components/menu.tsx";
import { navigate, useSubject } from "../../../shared/pages/location.ts";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import { downloadItems, tryAction } from "../actions.tsx";
import { cancelRun, deleteRun, downloadComparison, listRuns, retryRun } from "../api.ts";
import { deletionItem } from "../deletion.tsx";
import { canRetry, RETRY } from "../run_actions.tsx";
import { source } from "../source.ts";
import { StatusBadge } from "../parts/status_badge.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { Explained } from "../glossary.tsx";
import { adviceOn, datasetText, errorText } from "../words.ts";
import { ModelTable } from "./model_table.tsx";
import { ReplyGrid } from "./reply_grid.tsx";
import { answerOfGroup, Verdict } from "./verdict.tsx";

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

/** Several models without the frame of the page: in a report, also without actions and replies. */
export function ModelsBody({ comparison, actions, replies }: {
  comparison: Comparison;
  actions?: ComponentChildren;
  replies?: ComponentChildren;
}) {
  return (
    <>
      <Head comparison={comparison} actions={actions} />
      <Outcome comparison={comparison} />
      {replies
        ? (
          <>
            {replies}
            <details class="card raw">
              <summary>Intervals and all scores</summary>
              <ModelTable comparison={comparison} />
            </details>
          </>
        )
        : <ModelTable comparison={comparison} />}
    </>
  );
}

function Head({ comparison, actions }: { comparison: Comparison; actions: ComponentChildren }) {
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
      {source.isLive && (
        <nav class="crumbs" aria-label="Where you are">
          <Link href="/">Runs</Link>
        </nav>
      )}
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

/** Which model is best; or how far the runs are. */
function Outcome({ comparison }: { comparison: Comparison }) {
  const { best, runs: models, progress } = comparison;
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
  const errors = models.flatMap((model) => model.errors.map((error) => ({ model, error })));
  return (
    <Verdict
      comparison={comparison}
      answer={answerOfGroup(comparison)}
      tone={best.length === 1 && models.length > 1 ? "good" : ""}
    >
      {errors.slice(0, 2).map(({ model, error }) => (
        <p key={model.run_id} class="first-error" role="note" dir="auto">
          <strong>{`${model.name}: ${formatNumberOf(error.turns, "call")} failed: `}</strong>
          {errorText(error.detail)}. {adviceOn(error)}
        </p>
      ))}
    </Verdict>
  );
}

/** What can be done with all runs of a group; `changed` and `deleted` are called afterwards. */
function groupActions(
  { group_id, status, runs }: Comparison,
  { changed, deleted }: { changed: () => void; deleted: () => void },
): MenuItem[] {
  if (group_id === undefined) return [];
  const forAll = (work: (id: string) => Promise<unknown>, of: typeof runs, done?: string) => () =>
    tryAction(async () => {
      for (const { run_id } of of) await work(run_id);
      changed();
      return done;
    });
  if (status === "running") {
    const running = runs.filter((run) => run.status === "running");
    const done = "The runs are cancelled; their finished turns are kept.";
    return [{ label: "Cancel its runs", icon: "stop", onSelect: forAll(cancelRun, running, done) }];
  }
  const failed = runs.filter(canRetry);
  return [
    ...failed.length > 0
      ? [{ label: RETRY, icon: "retry" as const, onSelect: forAll(retryRun, failed) }]
      : [],
    deletionItem({
      noun: "group",
      name: runs[0]!.test_name,
      content: `the runs of ${formatNumberOf(runs.length, "model")}`,
      async erase() {
        // Including those that were retried.
        const { runs: all } = await listRuns({ group: group_id, limit: 200 });
        for (const { run_id } of all) await deleteRun(run_id);
      },
      after: deleted,
    }),
  ];
}

const FORMATS = [
  ["json", "JSON"],
  ["csv", "CSV"],
  ["markdown", "Markdown"],
  ["html", "HTML report, one file"],
] as const;

/** The files that a comparison can be saved as; `parameters` say of which runs. */
export function comparisonExports(parameters: Record<string, string>): MenuItem[] {
  return downloadItems(FORMATS, (format) => downloadComparison({ ...parameters, format }));
}
