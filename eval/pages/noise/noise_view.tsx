import { Empty } from "../../../shared/pages/components/states.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatScore } from "../../../shared/pages/format.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import type { Halvings, ScoreNoise } from "../../test/noise.ts";
import { Select } from "../parts/fields.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { type RunAndSummary, source } from "../source.ts";
import { asSentence, overallFirst, scoreLabel } from "../words.ts";
import { Section } from "../parts/section.tsx";
import { Explained, meaningOf } from "../glossary.tsx";
import { PlanningSection } from "./planning_section.tsx";

/** Where the noise of a score comes from, and how many scenarios a comparison needs. */
export function NoiseView({ run, summary }: RunAndSummary) {
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
            <Select
              options={names.map((name) => [name, scoreLabel(name)])}
              value={score}
              onChoose={(name) => setQuery({ noise_of: name === names[0] ? undefined : name })}
            />
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

const SOURCES = [
  { name: "scenario", label: "Scenarios", means: "some are harder than others" },
  { name: "attempt", label: "Attempts", means: "the model replies differently each time" },
  { name: "vote", label: "Votes", means: "the judge grades differently each time" },
] as const;

const WAYS = [
  { name: "scenarios", label: "scenarios" },
  { name: "attempts", label: "attempts" },
  { name: "votes", label: "votes of the judge on each turn" },
] as const;

/** The parts that scenarios, the model and the judge have in the noise, and what would halve it. */
function NoiseSplit({ score, noise, attempts }: {
  score: string;
  noise: ScoreNoise;
  /** Of the run. */
  attempts: number;
}) {
  const { components, stderr, mean, to_halve_stderr, notes } = noise;
  const shares = SOURCES.map(({ name }) => components[name]?.share_of_mean ?? 0);
  const label = SOURCES.map(({ label }, index) => `${label} ${percent(shares[index]!)}`).join(", ");
  return (
    <Section
      title={`Sources of noise: ${scoreLabel(score)}`}
      hint={`Mean ${formatScore(mean)}${
        stderr === null ? "" : `, standard error ${formatScore(stderr, 3)}`
      }, over ${formatCount(noise.scenarios)} scenarios and ${
        formatCount(noise.conversations)
      } conversations`}
    >
      <svg class="shares" height={20} role="img" aria-label={`Of the mean's variance: ${label}`}>
        {SOURCES.map(({ name }, index) => (
          <rect
            key={name}
            class={name}
            x={percent(shares.slice(0, index).reduce((a, b) => a + b, 0))}
            width={percent(shares[index]!)}
            height={20}
          />
        ))}
      </svg>
      <DataTable
        label={`Sources of the noise of ${scoreLabel(score)}`}
        isFlat
        rows={SOURCES.map((source) => ({ ...source, component: components[source.name] }))}
        keyOf={({ name }) => name}
        columns={[
          {
            label: "Source",
            cell: ({ name, label, means }) => (
              <span class="with-key">
                <i class={`key ${name}`} />
                <span>
                  {label} <span class="muted small">{means}</span>
                </span>
              </span>
            ),
          },
          {
            label: "Share in the mean",
            isNumber: true,
            cell: ({ component }) => component ? percent(component.share_of_mean) : "not known",
          },
          {
            label: "Share in one conversation",
            isNumber: true,
            cell: ({ component }) => component ? percent(component.share) : "",
          },
          {
            label: "Standard deviation",
            means: meaningOf("standard deviation"),
            isNumber: true,
            cell: ({ component }) => component ? formatScore(Math.sqrt(component.variance), 3) : "",
          },
        ]}
      />
      <h4>
        <Explained text="To halve the standard error" />
      </h4>
      <Ways halvings={to_halve_stderr} present={{ scenarios: noise.scenarios, attempts }} />
      {notes.map((note) => <p key={note} class="muted small">{asSentence(note)}</p>)}
    </Section>
  );
}

function percent(share: number): string {
  return `${formatScore(share * 100, 0)}%`;
}

function Ways({ halvings, present }: {
  halvings: Halvings;
  /** What the run has. */
  present: { scenarios: number; attempts: number; votes?: number };
}) {
  const known = WAYS.filter(({ name }) => halvings[name]);
  const callsOf = (name: keyof typeof present) =>
    halvings[name]!.model_calls + halvings[name]!.judge_calls;
  const least = Math.min(...known.map(({ name }) => callsOf(name)));
  const isTied = known.filter(({ name }) => callsOf(name) === least).length > 1;
  if (known.length === 0) return <p class="muted">Nothing alone can halve it.</p>;
  return (
    <ul class="reasons">
      {known.map(({ name, label }) => {
        const { needed, model_calls, judge_calls } = halvings[name]!;
        return (
          <li key={name}>
            <span>
              <strong>{formatCount(needed)}</strong> {label}
              {present[name] !== undefined && ` instead of ${formatCount(present[name])}`}{" "}
              <span class="muted small">
                {formatCount(model_calls)} further calls of the model
                {judge_calls > 0 && `, ${formatCount(judge_calls)} of the judge`}
              </span>{" "}
              {name === halvings.cheapest && !isTied && <span class="badge accent">cheapest</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
