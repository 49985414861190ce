import { Empty } from "../../../shared/pages/components/states.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { Run } from "../../api/schemas/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { useLoaded } from "../loaded.ts";
import { Shown } from "../shown.tsx";
import { source } from "../source.ts";
import { overallFirst, scoreLabel } from "../words.ts";
import { NoiseSplit } from "./noise_split.tsx";
import { PlanningSection } from "./planning_section.tsx";

/** Where the noise of a score comes from, and how many scenarios a comparison needs. */
export function NoiseView({ run, summary }: { run: Run; summary: RunSummary }) {
  const known = Object.entries(summary.statistics).filter(([, { mean }]) => mean !== null);
  const [first, ...others] = overallFirst(known.map(([name]) => name));
  if (first !== undefined) return <NoiseOf run={run} names={[first, ...others]} />;
  return (
    <Empty icon="test" title="No scores yet">
      <p>Where the noise comes from is known once turns have scores.</p>
    </Empty>
  );
}

/** `names` are the scores to choose from. */
function NoiseOf({ run, names }: { run: Run; names: [string, ...string[]] }) {
  const score = query.value.get("noise_of") ?? names[0];
  const loaded = useLoaded(
    () => source.noise(run.run_id, score),
    [run.run_id, score],
  );
  return (
    <>
      {source.isLive && (
        <div class="section-head">
          <label>
            Score{" "}
            <select
              class="input auto"
              value={score}
              onChange={({ currentTarget: { value } }) =>
                setQuery({ noise_of: value === names[0] ? undefined : value })}
            >
              {names.map((name) => <option key={name} value={name}>{scoreLabel(name)}</option>)}
            </select>
          </label>
        </div>
      )}
      <Shown loaded={loaded} what="the noise">
        {({ scores }) => (
          <div class="columns">
            {Object.entries(scores).map(([name, noise]) => (
              <NoiseSplit key={name} score={name} noise={noise} attempts={run.attempts} />
            ))}
            {source.isLive && <PlanningSection run={run} score={score} />}
          </div>
        )}
      </Shown>
    </>
  );
}
