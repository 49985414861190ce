import { useEffect } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Loading, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { query } from "../../../shared/pages/location.ts";
import { Frame } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { DeleteRunDialog } from "../run_actions.tsx";
import { source } from "../source.ts";
import { AgreementView } from "../grades/agreement_view.tsx";
import { NoiseView } from "../noise/noise_view.tsx";
import { RunHead } from "./run_head.tsx";
import { RunOverview } from "./run_overview.tsx";
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
  const place = query.value.get("turn");
  const view = query.value.get("view");
  useEffect(() => globalThis.scrollTo(0, 0), [place, view]);
  if (loaded.problem) {
    return (
      <ProblemNotice problem={loaded.problem}>
        <Button isSmall icon="retry" onClick={loaded.reload}>Try again</Button>
        {source.isLive && <Link class="button small" href="/">All runs</Link>}
      </ProblemNotice>
    );
  }
  if (!loaded.value) return <Loading what="the run" />;
  const [run, summary] = loaded.value;
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
}
