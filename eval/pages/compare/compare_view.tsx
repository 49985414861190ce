import { useId } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { Empty } from "../../../shared/pages/components/states.tsx";
import { formatAge } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { ListedRun } from "../../http/schemas/run_schemas.ts";
import { listRuns } from "../api.ts";
import { Failed, Shown, useLoaded } from "../loaded.tsx";
import { exportItems } from "../run_actions.tsx";
import { Select } from "../parts/fields.tsx";
import { source } from "../source.ts";
import { meanText, modelOf } from "../words.ts";
import { Compared } from "./compared.tsx";
import { ModelsView } from "./models_view.tsx";

/** What the verdict may call equal enough. */
const MATTERS = [
  ["", "Every difference matters"],
  ...["0.01", "0.02", "0.05", "0.1"].map((value) =>
    [value, `From ${value} on it matters`] as const
  ),
] as const;

/** Which of several runs is better? */
export function CompareView() {
  const runs = query.value.get("runs");
  const group = query.value.get("group");
  if (group) return <ModelsView key={group} selected={{ group }} />;
  return runs ? <ModelsView key={runs} selected={{ runs }} /> : <PairView />;
}

/** A baseline and a candidate, to be chosen. */
function PairView() {
  const baseline = query.value.get("baseline") ?? "";
  const candidate = query.value.get("candidate") ?? "";
  const matters = query.value.get("min_difference") ?? undefined;
  const listed = useLoaded(() => listChoices([baseline, candidate]), []);
  const runs = listed.value ?? [];
  return (
    <>
      <div class="page-head">
        <h2>Compare</h2>
        <RunChoice label="Baseline" name="baseline" runs={runs} other={candidate} />
        <RunChoice label="Candidate" name="candidate" runs={runs} other={baseline} />
        <span class="spacer" />
        {baseline && candidate && (
          <>
            <Link class="button" href={`/ui/compare?runs=${baseline},${candidate}`}>
              Side by side
            </Link>
            <Select
              aria-label="The smallest difference that matters"
              options={MATTERS}
              value={matters ?? ""}
              onChoose={(min_difference) => setQuery({ min_difference })}
            />
            <Menu
              button={{ icon: "download", children: "Export" }}
              items={exportItems(candidate, { baseline, min_difference: matters })}
            />
          </>
        )}
      </div>
      <Failed problem={listed.problem} retry={listed.reload} />
      {baseline && candidate
        ? <CompareBody baseline={baseline} candidate={candidate} matters={matters} />
        : (
          <Empty icon="columns" title="Choose two runs">
            <p>
              The baseline is what you have, the candidate what might replace it. Runs with
              different test sets are compared on what they share.
            </p>
            <Link class="button" href="/">Go to the runs</Link>
          </Empty>
        )}
    </>
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

/** Chooses a run by its name, model and age. `other` is the one it is compared with. */
function RunChoice({ label, name, runs, other }: {
  label: string;
  name: "baseline" | "candidate";
  runs: ListedRun[];
  other: string;
}) {
  const id = useId();
  const chosen = query.value.get(name) ?? "";
  const offered = runs.filter(({ run_id }) => run_id === chosen || run_id !== other);
  const isListed = runs.some(({ run_id }) => run_id === chosen);
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <Select
        id={id}
        class="input"
        options={[
          ["", "Choose a run"],
          ...(chosen && !isListed ? [[chosen, chosen] as const] : []),
          ...offered.map((run) => [run.run_id, describe(run)] as const),
        ]}
        value={chosen}
        onChoose={(id) => setQuery({ [name]: id })}
      />
    </span>
  );
}

/** Runs of one test and model are told apart by their score and age. */
function describe(run: ListedRun): string {
  const { test_name, headline, created_at } = run;
  const overall = headline?.scores.overall;
  return [
    test_name.slice(0, 60),
    modelOf(run),
    ...(overall ? [meanText(overall)] : []),
    formatAge(created_at),
  ].join(" · ");
}

/** The same without the frame, for a report. `matters`: see `min_difference` of the API. */
export function CompareBody({ baseline, candidate, matters }: {
  baseline: string;
  candidate: string;
  matters?: string | undefined;
}) {
  const loaded = useLoaded(
    () => source.comparison({ baseline, candidate, min_difference: matters }),
    [baseline, candidate, matters],
  );
  return (
    <Shown loaded={loaded} what="the comparison">
      {(comparison) => <Compared comparison={comparison} />}
    </Shown>
  );
}
