import { useSignal } from "@preact/signals";
import { Field } from "../../../shared/pages/components/field.tsx";
import {
  formatChosen,
  formatCount,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import type { RunPower } from "../../figures/power.ts";
import { planRun } from "../api.ts";
import { Section } from "../parts/section.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { UnitInput } from "../parts/fields.tsx";
import { scoreLabel } from "../words.ts";

const SMALLEST = "0.05";

/** How many scenarios of this kind would show a difference to another run. */
export function PlanningSection({ run, score }: { run: Run; score: string }) {
  const difference = query.value.get("difference") ?? SMALLEST;
  const typed = useSignal(difference);
  const loaded = useLoaded(
    () => planRun(run.run_id, { score, difference }),
    [run.run_id, score, difference],
  );
  const error = loaded.problem?.errors.find(({ path }) => path === "difference")?.message;
  return (
    <Section
      title="How many scenarios are needed?"
      hint={`To show a difference of ${scoreLabel(score)} between this run and another one`}
    >
      <Field label="Difference" hint="From 0 to 1" error={error}>
        {(input) => (
          <UnitInput
            {...input}
            value={typed.value}
            onInput={(text) => typed.value = text}
            onChange={(difference) => setQuery({ difference })}
          />
        )}
      </Field>
      {!error && <Shown loaded={loaded} what="the plan">{(plan) => <Plan plan={plan} />}</Shown>}
    </Section>
  );
}

/** `5 to 90`; one number if both ends are the same or only the upper one is known. */
function range(
  { at_least, at_most }: { at_least: number | null; at_most: number | null },
  format: (value: number) => string,
): string {
  if (at_most === null) return "";
  const [from, to] = [at_least === null ? "" : format(at_least), format(at_most)];
  return from === "" || from === to ? to : `${from} to ${to}`;
}

function Plan({ plan }: { plan: RunPower }) {
  const { scenarios_needed: needed, detectable_difference: detectable, scenarios, power } = plan;
  const isRange = needed.at_least !== null && needed.at_least !== needed.at_most;
  return (
    <>
      <p class="sentence">
        {needed.at_most === null
          ? "This run does not show how many."
          : `${isRange ? "" : "At most "}${
            range(needed, formatCount)
          } scenarios are needed to show a difference of ${
            formatChosen(plan.difference)
          } with a chance of ${formatScore(power * 100, 0)}%.`}
      </p>
      <p class="muted small">
        {isRange &&
          "The smaller number holds if the other model is better or worse by the same in every scenario, the larger one if the scores of the two models have nothing to do with each other. "}
        This run has {formatNumberOf(scenarios, "scenario")}
        {detectable.at_most !== null &&
          `, which show a difference of ${range(detectable, (value) => formatScore(value, 3))}`}.
      </p>
      {plan.notes.map((note) => <p key={note} class="muted small">{note}</p>)}
    </>
  );
}
