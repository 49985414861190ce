import { Empty } from "../../../shared/pages/components/states.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { query } from "../../../shared/pages/location.ts";
import { Frame } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { exportItems } from "../run_actions.tsx";
import { Shown } from "../shown.tsx";
import { source } from "../source.ts";
import { Compared } from "./compared.tsx";
import { RunChoice } from "./run_choice.tsx";

/** Is one run better than another? */
export function CompareView() {
  const baseline = query.value.get("baseline") ?? "";
  const candidate = query.value.get("candidate") ?? "";
  return (
    <Frame>
      <div class="page-head">
        <h2>Compare</h2>
        <RunChoice label="Baseline" name="baseline" other={candidate} />
        <RunChoice label="Candidate" name="candidate" other={baseline} />
        <span class="spacer" />
        {baseline && candidate && (
          <Menu
            button={{ icon: "download", children: "Export" }}
            items={exportItems(candidate, baseline)}
          />
        )}
      </div>
      {baseline && candidate
        ? <CompareBody baseline={baseline} candidate={candidate} />
        : (
          <Empty icon="columns" title="Choose two runs">
            <p>
              The baseline is what you have, the candidate what might replace it. Runs with
              different test sets are compared on what they share.
            </p>
            <Link class="button" href="/">Go to the runs</Link>
          </Empty>
        )}
    </Frame>
  );
}

/** The same without the frame, for a report. */
export function CompareBody({ baseline, candidate }: { baseline: string; candidate: string }) {
  const loaded = useLoaded(
    () => source.comparison({ baseline, candidate }),
    [baseline, candidate],
  );
  return (
    <Shown loaded={loaded} what="the comparison">
      {(comparison) => <Compared comparison={comparison} />}
    </Shown>
  );
}
