import { useEffect } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Loading, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { query } from "../../../shared/pages/location.ts";
import { Frame } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { DeleteRunDialog } from "../run_actions.tsx";
import { source } from "../source.ts";
import { RunOverview } from "./run_overview.tsx";
import { TurnView } from "./turn_view.tsx";

/** One run: its overview, or one of its turns if the address names one (`?turn=0/1/0`). */
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
  const run = useLoaded(() => source.run(id), [id]);
  const summary = useLoaded(() => source.summary(id), [id, run.value?.status]);
  const place = query.value.get("turn");
  useEffect(() => globalThis.scrollTo(0, 0), [place]);
  const problem = run.problem ?? summary.problem;
  if (problem) {
    return (
      <ProblemNotice problem={problem}>
        <Button
          isSmall
          icon="retry"
          onClick={() => {
            run.reload();
            summary.reload();
          }}
        >
          Try again
        </Button>
        {source.isLive && <Link class="button small" href="/">All runs</Link>}
      </ProblemNotice>
    );
  }
  if (!run.value || !summary.value) return <Loading what="the run" />;
  const reload = () => {
    run.reload();
    summary.reload();
  };
  return place
    ? <TurnView run={run.value} summary={summary.value} place={place} />
    : <RunOverview run={run.value} summary={summary.value} reload={reload} />;
}
