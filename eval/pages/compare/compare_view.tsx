import { useId } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { Empty } from "../../../shared/pages/components/states.tsx";
import { formatAge } from "../../../shared/pages/format.ts";
import { query, setQuery, useScrollTop, withChanges } from "../../../shared/pages/location.ts";
import type { ListedRun } from "../../http/schemas/run_schemas.ts";
import { listRuns } from "../api.ts";
import { Failed, Shown, useLoaded } from "../loaded.tsx";
import { Select } from "../parts/fields.tsx";
import { source } from "../source.ts";
import { meanText, modelOf } from "../words.ts";
import { Compared } from "./compared.tsx";
import { comparisonExports } from "./group_actions.tsx";
import { ModelsView } from "./models_view.tsx";

/** The smallest difference that matters; what is smaller, the verdict may call equal enough. */
const MATTERS = [
  ["", "any"],
  ...["0.01", "0.02", "0.05", "0.1"].map((value) => [value, value] as const),
] as const;

/** Which of several runs is better? */
export function CompareView() {
  const runs = query.value.get("runs");
  const group = query.value.get("group");
  useScrollTop([runs, group]);
  if (group) return <ModelsView key={group} selected={{ group }} />;
  return runs ? <ModelsView key={runs} selected={{ runs }} /> : <PairView />;
}

/** A baseline and a candidate, to be chosen. */
function PairView() {
  const baseline = query.value.get("baseline") ?? "";
  const candidate = query.value.get("candidate") ?? "";
  const min_difference = query.value.get("min_difference") ?? "";
  const listed = useLoaded(() => listChoices([baseline, candidate]), []);
  const runs = listed.value ?? [];
  const ids = { baseline, candidate };
  const both = Object.values(ids).join();
  const compared = useLoaded(
    async () =>
      baseline && candidate ? await source.comparison({ ...ids, min_difference }) : undefined,
    [ids, min_difference],
  );
  const chosen = runs.find(({ run_id }) => run_id === (baseline || candidate));
  const id = useId();
  return (
    <>
      <div class="page-head">
        <h2>Compare</h2>
        <span class="spacer" />
        {baseline && candidate && (
          <>
            <Link class="button" href={`/ui/compare?runs=${both}`}>Side by side</Link>
            <Menu
              button={{ icon: "download", children: "Export" }}
              items={comparisonExports({ runs: both, min_difference })}
            />
          </>
        )}
      </div>
      <div class="choices">
        <RunChoice label="Baseline" name="baseline" runs={runs} other={candidate} />
        <RunChoice label="Candidate" name="candidate" runs={runs} other={baseline} />
        <span class="choice">
          <label for={id}>Smallest difference that matters</label>
          <Select
            id={id}
            options={MATTERS}
            value={min_difference}
            onChoose={(min_difference) => setQuery({ min_difference })}
          />
        </span>
      </div>
      <Failed problem={listed.problem} retry={listed.reload} />
      {baseline && candidate
        ? (
          <Shown loaded={compared} what="the comparison">
            {(comparison) => <Compared comparison={comparison!} />}
          </Shown>
        )
        : (
          <Empty icon="columns" title={baseline || candidate ? "Compare with…" : "Choose two runs"}>
            {chosen && <Suggestions run={chosen} missing={baseline ? "candidate" : "baseline"} />}
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

/** The runs that one would compare a run with first, and what they are. */
async function findObvious(run: ListedRun, missing: "baseline" | "candidate") {
  const { run_id, test_name, group_id, created_at } = run;
  const [siblings, ofTest, tagged] = await Promise.all([
    group_id === undefined ? [] : listRuns({ group: group_id }).then(({ runs }) => runs),
    listRuns({ test_name, status: "completed" }).then(({ runs }) => runs),
    listRuns({ text: "main" }).then(({ runs }) => runs),
  ]);
  const last = ofTest.find((other) =>
    (missing === "candidate" || other.created_at < created_at) &&
    (group_id === undefined || other.group_id !== group_id) && other.run_id !== run_id
  );
  const found: [what: string, run: ListedRun | undefined][] = [
    ...siblings.map((sibling) => ["of the same group", sibling] as [string, ListedRun]),
    ["the last run of this test", last],
    ["tagged main", tagged.find(({ tags }) => tags?.includes("main"))],
  ];
  const byId = new Map(
    found.flatMap(([what, other]) =>
      other && other.run_id !== run_id ? [[other.run_id, { what, other }]] : []
    ),
  );
  return [...byId.values()];
}

/** Offers the runs that are obvious to compare with, by one press each. */
function Suggestions({ run, missing }: { run: ListedRun; missing: "baseline" | "candidate" }) {
  const { value: found = [] } = useLoaded(() => findObvious(run, missing), [run.run_id, missing]);
  return (
    <ul class="bare-list suggestions" aria-label="Obvious runs">
      {found.map(({ what, other }) => (
        <li key={other.run_id}>
          <Link class="button" href={withChanges({ [missing]: other.run_id }).href}>
            <span class="excerpt" dir="auto">{describe(other)}</span>
          </Link>{" "}
          <span class="muted">{what}</span>
        </li>
      ))}
    </ul>
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
