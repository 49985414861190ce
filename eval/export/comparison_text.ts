import type { Comparison, MovedScenario, Unpaired } from "../compare/comparison.ts";
import { showDifference, showScore, type TextForm } from "./text_form.ts";

const SHOWN_NAMES = 5;

/** A comparison for people: a verdict a score, what moved, and what could not be compared. */
export function describeComparison(
  { baseline, result }: { baseline: string; result: Comparison },
  form: TextForm,
): string {
  const { verdict, scores, moved, changed } = result;
  const notes = [
    ...Object.entries(scores)
      .filter(([, { reason, difference }]) => reason !== null && difference !== 0)
      .map(([name, { reason }]) => `${form.name(name)}: ${reason}`),
    ...describeUnpaired("Only in the baseline", { unpaired: result.only_in_baseline, form }),
    ...describeUnpaired("Only in the candidate", { unpaired: result.only_in_candidate, form }),
    ...changed.length > 0
      ? [`Paired by id, but not the same in both runs: ${listNames(changed, form)}`]
      : [],
  ];
  return [
    form.title(`Compared with ${form.name(baseline)}: ${verdict}`, 2),
    Object.keys(scores).length === 0
      ? form.lines(["The runs have no scenario and score in common."])
      : describeScores(result, form),
    ...moved
      ? [
        describeMoved("improved most", { scenarios: moved.up, form }),
        describeMoved("fell most", { scenarios: moved.down, form }),
      ]
      : [],
    notes.length > 0 ? `\n${form.lines(notes)}` : "",
  ].join("");
}

function describeScores({ scores }: Comparison, form: TextForm): string {
  const rows = Object.entries(scores).map(([name, score]) => [
    form.name(name),
    showScore(score.baseline),
    showScore(score.candidate),
    showDifference(score.difference),
    score.ci95 ? score.ci95.map(showDifference).join(" … ") : "–",
    score.p_adjusted.toFixed(4),
    score.verdict,
  ]);
  return form.table(["score", "before", "now", "difference", "95 %", "p", "verdict"], rows);
}

function describeMoved(
  title: string,
  { scenarios, form }: { scenarios: MovedScenario[]; form: TextForm },
): string {
  if (scenarios.length === 0) return "";
  const rows = scenarios.slice(0, SHOWN_NAMES).map((scenario) => [
    form.name(scenario.scenario_id),
    showScore(scenario.baseline),
    showScore(scenario.candidate),
    showDifference(scenario.difference),
  ]);
  return `\n${form.table([title, "before", "now", "difference"], rows)}`;
}

function describeUnpaired(
  title: string,
  { unpaired: { scenarios, turns, scores }, form }: { unpaired: Unpaired; form: TextForm },
): string[] {
  const places = turns.map((turn) => `${turn.scenario_id} / ${turn.interaction_id}`);
  const parts = Object.entries({ scenarios, turns: places, scores })
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${kind} ${listNames(names, form)}`);
  return parts.length > 0 ? [`${title}: ${parts.join("; ")}`] : [];
}

function listNames(names: string[], form: TextForm): string {
  const more = names.length - SHOWN_NAMES;
  return names.slice(0, SHOWN_NAMES).map(form.name).join(", ") +
    (more > 0 ? ` and ${more} more` : "");
}
