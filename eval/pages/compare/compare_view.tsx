import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { Empty, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { query } from "../../../shared/pages/location.ts";
import type { ListedRun } from "../../api/schemas/run_schemas.ts";
import { listRuns } from "../api.ts";
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
  const listed = useLoaded(() => listChoices([baseline, candidate]), []);
  const runs = listed.value ?? [];
  return (
    <Frame>
      <div class="page-head">
        <h2>Compare</h2>
        <RunChoice label="Baseline" name="baseline" runs={runs} other={candidate} />
        <RunChoice label="Candidate" name="candidate" runs={runs} other={baseline} />
        <span class="spacer" />
        {baseline && candidate && (
          <Menu
            button={{ icon: "download", children: "Export" }}
            items={exportItems(candidate, baseline)}
          />
        )}
      </div>
      {listed.problem && (
        <ProblemNotice problem={listed.problem}>
          <Button isSmall icon="retry" onClick={listed.reload}>Try again</Button>
        </ProblemNotice>
      )}
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

/** The newest runs, and those that are chosen already, if they are older. */
async function listChoices(chosen: string[]): Promise<ListedRun[]> {
  const { runs } = await listRuns({ limit: 200 });
  const older = new Set(chosen.filter((id) => id && !runs.some(({ run_id }) => run_id === id)));
  const found = await Promise.all([...older].map(findRun));
  return [...runs, ...found.flat()];
}

/** Empty if it is not found or the request fails; the choice then shows only its id. */
async function findRun(id: string): Promise<ListedRun[]> {
  try {
    const { runs } = await listRuns({ text: id, limit: 1 });
    return runs.filter(({ run_id }) => run_id === id);
  } catch {
    return [];
  }
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
