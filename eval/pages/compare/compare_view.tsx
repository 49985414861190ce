import { useId } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { Empty } from "../../../shared/pages/components/states.tsx";
import { formatAge, formatScore } from "../../../shared/pages/format.ts";
import { query, setQuery, useScrollTop, withChanges } from "../../../shared/pages/location.ts";
import type { ListedRun, Run } from "../../http/schemas/run_schemas.ts";
import { listRuns } from "../api.ts";
import { Failed, Shown, useLoaded } from "../loaded.tsx";
import { Select } from "../parts/fields.tsx";
import { source } from "../source.ts";
import { modelOf } from "../words.ts";
import { Compared, JudgeVerdict } from "./compared.tsx";
import { comparisonExports, ModelsView } from "./models_view.tsx";

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
            {(comparison) => (
              <Compared
                comparison={comparison!}
                judge={
                  <JudgeVerdict key={`${baseline} ${candidate}`} ids={{ baseline, candidate }} />
                }
              />
            )}
          </Shown>
        )
        : (
          <Empty icon="columns" title={baseline || candidate ? "Compare with…" : "Choose two runs"}>
            {chosen && (
              <Suggestions run={chosen} runs={runs} missing={baseline ? "candidate" : "baseline"} />
            )}
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

/** The newest runs, the one tagged main, and those that are chosen already, if they are older. */
async function listChoices(chosen: string[]): Promise<Choice[]> {
  const older = (id: string) => source.run(id).catch(() => []); // the choice then shows its id
  const lists = await Promise.all([
    listRuns({ limit: 200 }).then(({ runs }) => runs),
    listRuns({ text: "main" }).then(({ runs }) => runs.filter(isMain), () => []),
    ...chosen.filter(Boolean).map(older),
  ]);
  const byId = new Map<string, Choice>();
  for (const run of lists.flat()) if (!byId.has(run.run_id)) byId.set(run.run_id, run);
  return [...byId.values()];
}

type Choice = Run & Partial<Pick<ListedRun, "headline">>;

const isMain = ({ tags }: Run) => tags?.includes("main") ?? false;

/** Chooses a run by its name, model and age. `other` is the one it is compared with. */
function RunChoice({ label, name, runs, other }: {
  label: string;
  name: "baseline" | "candidate";
  runs: Choice[];
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

/** Offers the runs that are obvious to compare one with, by a press each. */
function Suggestions({ run, runs, missing }: {
  run: Choice;
  runs: Choice[];
  missing: "baseline" | "candidate";
}) {
  const { run_id, test_name, group_id, created_at } = run;
  const others = runs.filter((other) => other.run_id !== run_id);
  const isOfGroup = (other: Run) => group_id !== undefined && other.group_id === group_id;
  const last = others.find((other) =>
    other.test_name === test_name && other.status === "completed" && !isOfGroup(other) &&
    (missing === "candidate" || other.created_at < created_at)
  );
  const found = others.flatMap((other) => {
    const words = [
      isOfGroup(other) && "of the same group",
      other === last && "the last run of this test",
      isMain(other) && "tagged main",
    ].filter(Boolean);
    return words.length > 0 ? [{ other, what: words.join(", ") }] : [];
  });
  return (
    <ul class="bare-list suggestions" aria-label="Obvious runs">
      {found.map(({ other, what }) => (
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
function describe(run: Choice): string {
  const { test_name, headline, created_at } = run;
  const overall = headline?.scores.overall;
  return [
    test_name.slice(0, 60),
    modelOf(run),
    ...(overall ? [formatScore(overall.mean)] : []),
    formatAge(created_at),
  ].join(" · ");
}
