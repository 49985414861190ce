import type { Comparison, MovedScenario, Unpaired } from "../compare/comparison.ts";
import { oneLine } from "../export/shorten.ts";
import { renderTable } from "./table.ts";

const SHOWN = 5;

/** A comparison for people: a verdict a score, what moved, and what could not be compared. */
export function renderComparison(comparison: Comparison, baseline: string): string {
  const { verdict, scores, moved } = comparison;
  const rows = Object.entries(scores).map(([name, score]) => [
    name,
    score.baseline.toFixed(3),
    score.candidate.toFixed(3),
    signed(score.difference),
    score.ci95 ? `${signed(score.ci95[0])} .. ${signed(score.ci95[1])}` : "–",
    score.p_adjusted.toFixed(4),
    score.verdict,
  ]);
  const reasons = Object.entries(scores)
    .filter(([, score]) => score.reason !== null && score.difference !== 0)
    .map(([name, score]) => `${name}: ${score.reason}\n`);
  return [
    `compared with ${baseline}: ${verdict}\n\n`,
    rows.length === 0
      ? "the runs have no scenario and score in common\n"
      : renderTable(["score", "before", "now", "difference", "95 %", "p", "verdict"], rows),
    ...reasons.length > 0 ? ["\n", ...reasons] : [],
    ...moved ? [renderMoved("improved most", moved.up), renderMoved("fell most", moved.down)] : [],
    renderUnpaired("only in the baseline", comparison.only_in_baseline),
    renderUnpaired("only in the candidate", comparison.only_in_candidate),
    comparison.changed.length > 0
      ? `paired by id, but not the same in both runs: ${listed(comparison.changed)}\n`
      : "",
  ].join("");
}

function renderMoved(title: string, scenarios: MovedScenario[]): string {
  if (scenarios.length === 0) return "";
  const rows = scenarios.slice(0, SHOWN).map((scenario) => [
    scenario.scenario_id,
    scenario.baseline.toFixed(3),
    scenario.candidate.toFixed(3),
    signed(scenario.difference),
  ]);
  return `\n${renderTable([title, "before", "now", "difference"], rows)}`;
}

function renderUnpaired(title: string, { scenarios, turns, scores }: Unpaired): string {
  const places = turns.map((turn) => `${turn.scenario_id}/${turn.interaction_id}`);
  const parts = [
    scenarios.length > 0 ? `scenarios ${listed(scenarios)}` : "",
    places.length > 0 ? `turns ${listed(places)}` : "",
    scores.length > 0 ? `scores ${listed(scores)}` : "",
  ].filter(Boolean);
  return parts.length > 0 ? `\n${title}: ${parts.join("; ")}\n` : "";
}

function listed(names: string[]): string {
  const more = names.length - SHOWN;
  return names.slice(0, SHOWN).map((name) => oneLine(name, 60)).join(", ") +
    (more > 0 ? ` and ${more} more` : "");
}

function signed(value: number): string {
  const text = value.toFixed(3);
  return Number(text) === 0 ? "0.000" : value > 0 ? `+${text}` : text;
}
