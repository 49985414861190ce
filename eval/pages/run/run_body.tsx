import { useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { query, useScrollTop, useSubject } from "../../../shared/pages/location.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import { Shown, useLoaded } from "../loaded.tsx";
import { type RunAndSummary, source } from "../source.ts";
import { asSentence, modelOf } from "../words.ts";
import { Headline } from "./headline.tsx";
import { RepliesTab } from "./replies_tab.tsx";
import { RunHead, RunTabs } from "./run_head.tsx";
import { askAhead } from "./turn/turn_list.ts";
import { turnParameters } from "./turn/turn_query.ts";

/** Parts that a report does not have: breadcrumbs, actions, progress. */
interface LiveParts {
  /** Loads the other views ahead. */
  loadDetails: () => void;
  crumbs: (run: Run) => ComponentChildren;
  tools: (run: Run, reload: () => void) => ComponentChildren;
  progress: (
    run: Run,
    told: { onEnd: () => void; onTurns: () => void },
  ) => ComponentChildren;
}

/** What is shown beside the replies: the dashboard loads it later, a report has it. */
interface Details {
  TurnView: ComponentType<RunAndSummary & { place: string }>;
  DetailsTab: ComponentType<RunAndSummary & { view: string }>;
}

/** The same without the frame, for a report. */
export function RunBody({ id, details: { TurnView, DetailsTab }, live }: {
  id: string;
  details: Details;
  live?: LiveParts;
}) {
  const loaded = useLoaded(() => Promise.all([source.run(id), source.summary(id)]), [id]);
  const [run] = loaded.value ?? [];
  useSubject(run && `${run.test_name} · ${modelOf(run)}`);
  const place = query.value.get("turn");
  const view = query.value.get("view");
  useEffect(() => {
    if (!place && !view) askAhead(id, turnParameters());
    else live?.loadDetails();
  }, [id]);
  useScrollTop([place, view]);
  return (
    <Shown
      loaded={loaded}
      what="the run"
      elsewhere={source.isLive && <Link class="button small" href="/">All runs</Link>}
    >
      {([run, summary]) =>
        place ? <TurnView run={run} summary={summary} place={place} /> : (
          <Whole
            run={run}
            summary={summary}
            live={live}
            tab={view && <DetailsTab view={view} run={run} summary={summary} />}
            reload={loaded.reload}
          />
        )}
    </Shown>
  );
}

function Whole({ run, summary, live, tab, reload }: RunAndSummary & {
  live: LiveParts | undefined;
  /** Another one than that of the replies. */
  tab: ComponentChildren;
  reload: () => void;
}) {
  const round = useSignal(0);
  const before = useLoaded(() => source.lastRun(run), [run.run_id]).value ?? undefined;
  return (
    <>
      <RunHead
        run={run}
        crumbs={live?.crumbs(run)}
        actions={live?.tools(run, reload)}
      />
      {live && run.status === "running"
        ? live.progress(run, { onEnd: reload, onTurns: () => isAtTop() && round.value++ })
        : <Headline run={run} summary={summary} before={before} />}
      {summary.notes.map((note) => <Note key={note.code} {...note} />)}
      <RunTabs />
      {tab || <RepliesTab run={run} summary={summary} round={round.value} before={before} />}
    </>
  );
}

/** Further down, new turns would move what the person reads. */
function isAtTop(): boolean {
  return globalThis.scrollY < 200;
}

const SHORT_NOTES: Record<string, string> = {
  similarity_alone: "The score is similarity alone: set a judge to have replies understood.",
  system_prompts_not_sent: "System prompts were not sent.",
};

/** A remark of the service in one sentence, and the rest of it on demand. */
function Note({ code, detail }: { code: string; detail: string }) {
  const short = SHORT_NOTES[code];
  if (!short) return <p class="note small">{asSentence(detail)}</p>;
  return (
    <details class="note small">
      <summary>
        {short} <span class="why-link">Why?</span>
      </summary>
      <p>{asSentence(detail)}</p>
    </details>
  );
}
