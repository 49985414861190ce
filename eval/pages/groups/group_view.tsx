import { useEffect } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { navigate, useSubject } from "../../../shared/pages/location.ts";
import { formatDateTime, formatDuration, formatNumberOf } from "../../../shared/pages/format.ts";
import type { GroupPair, GroupReport } from "../../groups/group_report.ts";
import { formatP } from "../../schemas/rounding.ts";
import { readGroup } from "../api.ts";
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
import { groupActions, groupExports } from "./group_actions.tsx";
import { GroupGrid } from "./group_grid.tsx";
import { GroupModels, GroupPairs, GroupScores } from "./group_tables.tsx";

/** How often a group that is running is read again. */
const BUSY_MS = 2_000;

/** Several models on the same conversations: their scores, and which is better. */
export function GroupView({ id }: { id: string }) {
  const loaded = useLoaded(() => readGroup(id), [id]);
  useSubject(loaded.value?.test_name);
  useEffect(() => {
    if (loaded.value?.status !== "running") return;
    const timer = setTimeout(loaded.reload, BUSY_MS);
    return () => clearTimeout(timer);
  }, [loaded.value, loaded.problem]);
  return (
    <>
      <Shown
        loaded={loaded}
        what="the group"
        elsewhere={<Link class="button small" href="/ui/groups">All groups</Link>}
      >
        {(group) => (
          <GroupBody
            group={group}
            crumbs={
              <nav class="crumbs" aria-label="Where you are">
                <Link href="/ui/groups">Groups</Link>
              </nav>
            }
            actions={<Actions group={group} reload={loaded.reload} />}
            replies={group.status !== "running" && <GroupGrid group={group} />}
          />
        )}
      </Shown>
    </>
  );
}

function Actions({ group, reload }: { group: GroupReport; reload: () => void }) {
  return (
    <>
      {group.status !== "running" && (
        <Menu
          button={{ icon: "download", children: "Export" }}
          items={groupExports(group.group_id)}
        />
      )}
      <Menu
        button={{ icon: "more", "aria-label": "Actions" }}
        items={groupActions(group, reload, () => navigate("/ui/groups"))}
      />
    </>
  );
}

interface BodyProps {
  group: GroupReport;
  /** What is before and beside the name; nothing in a report. */
  crumbs?: ComponentChildren;
  actions?: ComponentChildren;
  /** The replies of all models; nothing in a report. */
  replies?: ComponentChildren;
}

/** A group without the frame of the page. */
export function GroupBody({ group, replies, ...head }: BodyProps) {
  return (
    <>
      <Head group={group} {...head} />
      <Outcome group={group} />
      {replies
        ? (
          <>
            {replies}
            <details class="card raw">
              <summary>Intervals, pairs and all scores</summary>
              <Figures group={group} />
            </details>
          </>
        )
        : <Figures group={group} />}
    </>
  );
}

function Figures({ group }: { group: GroupReport }) {
  return (
    <div class="stack">
      <GroupModels group={group} />
      {group.pairs && group.pairs.length > 0 && <GroupPairs group={group} />}
      <GroupScores group={group} />
    </div>
  );
}

function Head({ group, crumbs, actions }: Omit<BodyProps, "replies">) {
  const { test_name, models, attempts, dataset, created_at, finished_at, status } = group;
  const ended = finished_at ? Date.parse(finished_at) : undefined;
  const facts = [
    formatDateTime(created_at),
    formatNumberOf(models.length, "model"),
    formatNumberOf(attempts, "attempt"),
    dataset && datasetText(dataset),
    ended && `took ${formatDuration(ended - Date.parse(created_at))}`,
  ];
  return (
    <div class="run-head">
      {crumbs}
      <div class="page-head">
        <h2 dir="auto">{test_name || "(no name)"}</h2>
        {status !== "completed" && (
          <StatusBadge
            run={{ ...group, detail: null }}
            hasShare={false}
          />
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
function Outcome({ group }: { group: GroupReport }) {
  const { best, models, progress, pairs } = group;
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
        {describeBest(best, group)}
      </p>
      {pairs && pairs.length > 0 && (
        <ul class="bare-list muted">
          {pairs.slice(0, MOST_PAIRS).map((pair) => (
            <li key={`${pair.baseline} ${pair.candidate}`} dir="auto">
              <Explained text={describePair(pair)} />
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
function describeBest(best: string[], { models, pairs }: GroupReport): string {
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

function sizeOf({ scores }: GroupPair): number {
  return Math.abs(Object.values(scores)[0]?.difference ?? 0);
}

/** The most pairs in the headline; the table of pairs has all. */
const MOST_PAIRS = 6;

function describePair({ baseline, candidate, better, scores }: GroupPair): string {
  const score = scores.overall ?? Object.values(scores)[0];
  if (!score) return `${candidate} against ${baseline}: they cannot be compared`;
  const p = formatP(score.p ?? 1);
  if (better === null || score.difference === null) {
    return `${candidate} against ${baseline}: ${comparedText(score, 3)} (p ${p})`;
  }
  const worse = better === candidate ? baseline : candidate;
  return `${better} against ${worse}: ${differenceText(Math.abs(score.difference), 3)} (p ${p})`;
}
