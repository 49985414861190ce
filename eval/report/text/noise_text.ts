import { counted } from "../../../shared/service/text.ts";
import type { Halving, RunNoise, ScoreNoise } from "../../test/noise.ts";
import type { TextForm } from "./text_form.ts";

const SOURCES = {
  scenario: "scenarios differ",
  attempt: "the model varies",
  vote: "the judge varies",
} as const;

/**
 * Where the noise comes from, for people: a table per score, and what halves the standard error.
 */
export function noiseText({ scores }: RunNoise, form: TextForm): string {
  return Object.entries(scores).map(([name, score]) => describeScore(name, score, form)).join("");
}

function describeScore(name: string, noise: ScoreNoise, form: TextForm): string {
  const { stderr, components, notes } = noise;
  const title = form.title(`Noise of ${form.name(name)}`, 2);
  if (stderr === null) return title + form.lines(notes);
  const rows = (["scenario", "attempt", "vote"] as const).flatMap((source) => {
    const component = components[source];
    return component
      ? [[
        SOURCES[source],
        Math.sqrt(component.variance).toFixed(3),
        showShare(component.share),
        showShare(component.share_of_mean),
      ]]
      : [];
  });
  return title +
    form.table(["source", "stdev", "of one conversation", "of the mean"], rows) +
    `\n${
      form.lines([
        `Standard error of the mean ${stderr.toFixed(3)}`,
        ...describeHalving(noise),
        ...notes,
      ])
    }`;
}

function describeHalving({ to_halve_stderr: plans }: ScoreNoise): string[] {
  const { cheapest } = plans;
  const plan = cheapest && plans[cheapest];
  if (!plan) return [];
  const what = {
    scenarios: `${counted(plan.needed, "scenario")} in all`,
    attempts: counted(plan.needed, "attempt"),
    votes: `${counted(plan.needed, "vote")} per turn`,
  }[cheapest];
  return [`Half of it: cheapest with ${what}, ${describeCalls(plan)}`];
}

function describeCalls({ model_calls, judge_calls }: Halving): string {
  const judged = judge_calls > 0 ? ` and ${judge_calls} of the judge` : "";
  return `${model_calls} more calls of the model${judged}`;
}

function showShare(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}
