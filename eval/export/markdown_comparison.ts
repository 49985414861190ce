import type { Comparison, MovedScenario, Unpaired } from "../compare/comparison.ts";
import { codeSpan, markdownTable } from "./markdown_text.ts";

const SHOWN_SCENARIOS = 5;

/** A comparison as a section of Markdown, for a run's report or on its own. */
export function markdownComparison(
  { baseline, result }: { baseline: string; result: Comparison },
): string {
  const { verdict, scores, moved } = result;
  const rows = Object.entries(scores).map(([name, score]) => [
    codeSpan(name),
    score.baseline.toFixed(3),
    score.candidate.toFixed(3),
    signed(score.difference),
    score.ci95 ? `${signed(score.ci95[0])} … ${signed(score.ci95[1])}` : "–",
    score.p_adjusted.toFixed(4),
    score.verdict,
  ]);
  return [
    `### Compared with ${codeSpan(baseline)}: ${verdict}\n\n`,
    rows.length === 0
      ? "The runs have no scenario and score in common.\n"
      : markdownTable(["score", "before", "now", "difference", "95 %", "p", "verdict"], rows),
    ...moved ? [movedTable("Improved most", moved.up), movedTable("Fell most", moved.down)] : [],
    describeUnpaired("Only in the baseline", result.only_in_baseline),
    describeUnpaired("Only in this run", result.only_in_candidate),
    result.changed.length > 0
      ? `\nPaired by id, but not the same in both runs: ${listed(result.changed)}\n`
      : "",
  ].join("");
}

function movedTable(title: string, scenarios: MovedScenario[]): string {
  if (scenarios.length === 0) return "";
  const rows = scenarios.slice(0, SHOWN_SCENARIOS).map((scenario) => [
    codeSpan(scenario.scenario_id),
    scenario.baseline.toFixed(3),
    scenario.candidate.toFixed(3),
    signed(scenario.difference),
  ]);
  return `\n${markdownTable([title, "before", "now", "difference"], rows)}`;
}

function describeUnpaired(title: string, { scenarios, turns, scores }: Unpaired): string {
  const parts = [
    scenarios.length > 0 ? `scenarios ${listed(scenarios)}` : "",
    turns.length > 0
      ? `turns ${listed(turns.map((turn) => `${turn.scenario_id} / ${turn.interaction_id}`))}`
      : "",
    scores.length > 0 ? `scores ${listed(scores)}` : "",
  ].filter(Boolean);
  return parts.length > 0 ? `\n${title}: ${parts.join("; ")}\n` : "";
}

function listed(names: string[]): string {
  const more = names.length - SHOWN_SCENARIOS;
  return names.slice(0, SHOWN_SCENARIOS).map(codeSpan).join(", ") +
    (more > 0 ? ` and ${more} more` : "");
}

/** With its sign, and without a "−0.000" for what is nothing. */
function signed(value: number): string {
  const text = value.toFixed(3);
  return Number(text) === 0 ? "0.000" : value > 0 ? `+${text}` : text.replace("-", "−");
}
