import { useId } from "preact/hooks";
import { formatAge } from "../../../shared/pages/format.ts";
import { meanText, modelOf } from "../words.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { ListedRun } from "../../api/schemas/run_schemas.ts";

/** Chooses a run by its name, model and age. `other` is the one it is compared with. */
export function RunChoice({ label, name, runs, other }: {
  label: string;
  name: "baseline" | "candidate";
  runs: ListedRun[];
  other: string;
}) {
  const id = useId();
  const chosen = query.value.get(name) ?? "";
  const isListed = runs.some(({ run_id }) => run_id === chosen);
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="input"
        value={chosen}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
      >
        <option value="">Choose a run</option>
        {chosen && !isListed && <option value={chosen}>{chosen}</option>}
        {runs.filter(({ run_id }) => run_id === chosen || run_id !== other).map((run) => (
          <option key={run.run_id} value={run.run_id}>
            {describe(run)}
          </option>
        ))}
      </select>
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
