import type { RunDigest, ScenarioDigest } from "../export/digest.ts";
import { HEADLINE } from "../export/outcome.ts";
import type { StoredRun } from "../store/store.ts";
import { renderTable } from "./table.ts";

const SHOWN_SCENARIOS = 10;

/** A run for people: what it was, the averages, and the scenarios that want a look. */
export function renderRun(run: StoredRun, { digest, threshold }: {
  digest: RunDigest;
  threshold: number;
}): string {
  const { turns, passed, below, failed, unscored } = digest;
  const counts = [
    `${passed} passed`,
    `${below} below ${threshold}`,
    `${failed} failed`,
    ...unscored > 0 ? [`${unscored} without a score`] : [],
  ];
  return [
    `run    ${run.id} (${run.status})\n`,
    `test   ${run.testName}\n`,
    `model  ${run.modelId} at ${run.endpoint}\n`,
    `turns  ${turns} of ${run.totalTurns}: ${counts.join(", ")}\n`,
    ...digest.errors.size > 0 ? [`errors ${renderErrors(digest)}\n`] : [],
    `\n${renderScores(digest)}`,
    renderLowest(digest, threshold),
  ].join("");
}

function renderErrors({ errors }: RunDigest): string {
  const parts = [...errors].map(([code, { count, detail }]) => `${count} × ${code}: ${detail}`);
  return parts.join("\n       ");
}

function renderScores({ averages }: RunDigest): string {
  const names = Object.keys(averages).filter((name) => name !== HEADLINE);
  const rows = [HEADLINE, ...names].map((name) => [name, fixed(averages[name])]);
  return renderTable(["score", "mean"], rows);
}

function renderLowest({ scenarios }: RunDigest, threshold: number): string {
  const wanting = scenarios.filter(({ below, failed }) => below + failed > 0)
    .sort((a, b) => headline(a) - headline(b));
  if (wanting.length === 0) return "";
  const rows = wanting.slice(0, SHOWN_SCENARIOS).map((scenario) => [
    scenario.label,
    fixed(scenario.averages[HEADLINE]),
    `${scenario.below}/${scenario.turns}`,
    `${scenario.failed}`,
  ]);
  const more = wanting.length - rows.length;
  return "\n" +
    renderTable(["lowest scenarios", HEADLINE, `below ${threshold}`, "failed"], rows) +
    (more > 0 ? `and ${more} more\n` : "");
}

function headline({ averages }: ScenarioDigest): number {
  return averages[HEADLINE] ?? 0;
}

function fixed(value: number | null | undefined): string {
  return typeof value === "number" ? value.toFixed(3) : "–";
}
