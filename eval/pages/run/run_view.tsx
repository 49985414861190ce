import { useEffect } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { leftAt, query } from "../../../shared/pages/location.ts";
import { scrollBackTo } from "../../../shared/pages/scroll_back.ts";
import { useSubject } from "../../../shared/pages/subject.ts";
import { Frame } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { DeleteRunDialog } from "../run_actions.tsx";
import { Shown } from "../shown.tsx";
import { source } from "../source.ts";
import { AgreementView } from "../grades/agreement_view.tsx";
import { NoiseView } from "../noise/noise_view.tsx";
import { RunHead } from "./run_head.tsx";
import { RunOverview } from "./run_overview.tsx";
import { askAhead } from "./turn_list.ts";
import { turnParameters } from "./turn_query.ts";
import { TurnView } from "./turn_view.tsx";

/**
 * One run: its overview, its noise or its grades (`?view=`), or one of its turns if the address names
 * one (`?turn=0/1/0`).
 */
export function RunView({ id }: { id: string }) {
  return (
    <Frame>
      <RunBody id={id} />
      <DeleteRunDialog />
    </Frame>
  );
}

/** The same without the frame, for a report. */
export function RunBody({ id }: { id: string }) {
  const loaded = useLoaded(() => Promise.all([source.run(id), source.summary(id)]), [id]);
  const [run] = loaded.value ?? [];
  useSubject(run && `${run.test_name} · ${run.model_id}`);
  const place = query.value.get("turn");
  const view = query.value.get("view");
  useEffect(() => {
    if (!place && !view) askAhead(id, turnParameters());
  }, [id]);
  useEffect(() => {
    globalThis.scrollTo(0, 0);
    const { documentElement: scroller, body: content } = document;
    const top = leftAt()?.page ?? 0;
    return top > 0 ? scrollBackTo(top, { scroller, content }) : undefined;
  }, [place, view]);
  return (
    <Shown
      loaded={loaded}
      what="the run"
      elsewhere={source.isLive && <Link class="button small" href="/">All runs</Link>}
    >
      {([run, summary]) => {
        if (place) return <TurnView run={run} summary={summary} place={place} />;
        return (
          <>
            <RunHead run={run} reload={loaded.reload} />
            {view === "noise"
              ? <NoiseView run={run} summary={summary} />
              : view === "grades"
              ? <AgreementView run={run} summary={summary} />
              : <RunOverview run={run} summary={summary} reload={loaded.reload} />}
          </>
        );
      }}
    </Shown>
  );
}
