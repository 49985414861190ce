import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatScore } from "../../../shared/pages/format.ts";
import type { Halvings, ScoreNoise } from "../../schemas/noise.ts";
import { Section } from "../frame.tsx";
import { Explained, meaningOf } from "../glossary.tsx";
import { asSentence, scoreLabel } from "../words.ts";

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
export function NoiseSplit({ score, noise, attempts }: {
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
