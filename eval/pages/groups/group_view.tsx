import { useEffect } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate } from "../../../shared/pages/location.ts";
import type { GroupReport } from "../../groups/group_report.ts";
import { readGroup } from "../api.ts";
import { Frame } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { StatusBadge } from "../runs/runs_table.tsx";
import { Shown } from "../shown.tsx";
import { DeleteGroupDialog, groupActions, groupExports } from "./group_actions.tsx";
import { GroupModels, GroupScores } from "./group_models.tsx";
import { GroupPairs } from "./group_pairs.tsx";

/** How often a group that is running is read again. */
const BUSY_MS = 2_000;

/** Several models on the same conversations: their scores, and which is better. */
export function GroupView({ id }: { id: string }) {
  const loaded = useLoaded(() => readGroup(id), [id]);
  useEffect(() => {
    if (loaded.value?.status !== "running") return;
    const timer = setTimeout(loaded.reload, BUSY_MS);
    return () => clearTimeout(timer);
  }, [loaded.value, loaded.problem]);
  return (
    <Frame>
      <Shown
        loaded={loaded}
        what="the group"
        elsewhere={<Link class="button small" href="/ui/groups">All groups</Link>}
      >
        {(group) => (
          <>
            <Head group={group} reload={loaded.reload} />
            <Outcome group={group} />
            <GroupModels group={group} />
            {group.pairs && group.pairs.length > 0 && <GroupPairs group={group} />}
            <GroupScores group={group} />
          </>
        )}
      </Shown>
      <DeleteGroupDialog />
    </Frame>
  );
}

function Head({ group, reload }: { group: GroupReport; reload: () => void }) {
  const { test_name, models, attempts, created_at, finished_at } = group;
  const ended = finished_at ? Date.parse(finished_at) : undefined;
  return (
    <div class="run-head">
      <nav class="crumbs" aria-label="Where you are">
        <Link href="/">Runs</Link>
        <Link href="/ui/groups">Groups</Link>
      </nav>
      <div class="page-head">
        <h2 dir="auto">{test_name || "(no name)"}</h2>
        <StatusBadge run={{ ...group, detail: null }} hasShare={false} />
        <span class="spacer" />
        {group.status !== "running" && (
          <Menu
            button={{ icon: "download", children: "Export" }}
            items={groupExports(group.group_id)}
          />
        )}
        <Menu
          button={{ icon: "more", "aria-label": "Actions" }}
          items={groupActions(group, () => {
            if (group.status === "running") reload();
            else navigate("/ui/groups");
          })}
        />
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
          {method.correction}, over {formatNumberOf(method.tests, "test")}
        </p>
      )}
    </div>
  );
}
