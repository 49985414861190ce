import type { ComponentChildren } from "preact";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import type { GroupReport } from "../../groups/group_report.ts";
import { StatusBadge } from "../runs/runs_table.tsx";
import { GroupModels, GroupScores } from "./group_models.tsx";
import { GroupPairs } from "./group_pairs.tsx";

interface BodyProps {
  group: GroupReport;
  /** What is before and beside the name; nothing in a report. */
  crumbs?: ComponentChildren;
  actions?: ComponentChildren;
}

/** A group without the frame of the page. */
export function GroupBody({ group, ...head }: BodyProps) {
  return (
    <>
      <Head group={group} {...head} />
      <Outcome group={group} />
      <GroupModels group={group} />
      {group.pairs && group.pairs.length > 0 && <GroupPairs group={group} />}
      <GroupScores group={group} />
    </>
  );
}

function Head({ group, crumbs, actions }: BodyProps) {
  const { test_name, models, attempts, dataset, created_at, finished_at } = group;
  const ended = finished_at ? Date.parse(finished_at) : undefined;
  return (
    <div class="run-head">
      {crumbs}
      <div class="page-head">
        <h2 dir="auto">{test_name || "(no name)"}</h2>
        <StatusBadge run={{ ...group, detail: null }} hasShare={false} />
        <span class="spacer" />
        {actions}
      </div>
      <dl class="facts">
        <div>
          <dt>Models</dt>
          <dd>{models.length}</dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            {formatDateTime(created_at)}
            {ended && `, took ${formatDuration(ended - Date.parse(created_at))}`}
          </dd>
        </div>
        {dataset && (
          <div>
            <dt>Dataset</dt>
            <dd>{dataset}</dd>
          </div>
        )}
        <div>
          <dt>Size</dt>
          <dd>{formatNumberOf(attempts, "attempt")} each</dd>
        </div>
      </dl>
    </div>
  );
}

/** Which model is best, in one sentence, or how far the runs are. */
function Outcome({ group: { best, models, progress, method } }: { group: GroupReport }) {
  if (!best) {
    return (
      <section class="card section live" aria-label="Progress">
        <h3>{progress.done} of {formatNumberOf(progress.total, "turn")}</h3>
        <progress max={progress.total} value={progress.done} aria-label="Finished turns" />
      </section>
    );
  }
  const isDecided = best.length === 1 && models.length > 1;
  return (
    <div class={isDecided ? "verdict good" : "verdict"}>
      <p class="sentence" dir="auto">
        {isDecided
          ? `${best[0]} is better than every other model.`
          : best.length === 0
          ? "No run has been completed."
          : best.length === models.length
          ? "It is not known which of the models is best."
          : `It is not known which of these is best: ${best.join(", ")}.`}
      </p>
      {method && (
        <p class="muted">
          {formatNumberOf(method.tests, "significance test")}, corrected: {method.correction}
        </p>
      )}
    </div>
  );
}
