import { HEADLINE, reaches } from "../passing.ts";
import { withoutQuery } from "../target.ts";
import type { RunDigest, ScenarioDigest } from "./digest.ts";
import type { ExportSource } from "./format.ts";
import { showScore, type TextForm } from "./text_form.ts";

/** How many scenarios are shown: a pull request's comment holds 65,536 characters. */
const SHOWN_SCENARIOS = 10;

/** A run for people: what it was, whether it passed, the averages, and where to look first. */
export function describeRun(
  source: ExportSource,
  { digest, form }: { digest: RunDigest; form: TextForm },
): string {
  const { run, threshold } = source;
  return [
    form.title(`Evaluation ${form.name(run.testName)}: ${describeOutcome(digest, source)}`, 1),
    form.lines([
      `Model ${form.name(run.modelId)} at ${form.name(withoutQuery(run.endpoint))}`,
      `Run ${form.name(run.id)}, ${run.status}`,
      `Turns ${digest.turns} of ${run.totalTurns}: ${describeCounts(digest, threshold)}`,
      ...[...digest.errors].map(([code, { count, detail }]) =>
        `Failed ${count} × ${form.name(code)}: ${form.name(detail)}`
      ),
    ]),
    form.title("Scores", 2),
    describeScores(digest, form),
    describeLowest(digest, { threshold, form }),
  ].join("");
}

function describeOutcome(
  { averages }: RunDigest,
  { run, threshold, comparison }: ExportSource,
): string {
  if (run.status !== "completed") return run.status;
  const mean = averages[HEADLINE] ?? null;
  if (mean === null) return "not scored";
  if (!reaches(mean, threshold)) return `below ${threshold}`;
  return comparison?.result.verdict === "regressed" ? "regressed" : "passed";
}

function describeCounts({ passed, below, failed, unscored }: RunDigest, threshold: number): string {
  return `${passed} passed, ${below} below ${threshold}, ${failed} failed` +
    (unscored > 0 ? `, ${unscored} without a score` : "");
}

function describeScores({ averages }: RunDigest, form: TextForm): string {
  const scored = Object.keys(averages).filter((name) => averages[name] !== null);
  const names = [HEADLINE, ...scored.filter((name) => name !== HEADLINE)];
  return form.table(
    ["score", "mean"],
    names.map((name) => [form.name(name), showScore(averages[name])]),
  );
}

function describeLowest(
  { scenarios }: RunDigest,
  { threshold, form }: { threshold: number; form: TextForm },
): string {
  const wanting = scenarios
    .filter(({ below, failed }) => below + failed > 0)
    .sort((a, b) => headline(a) - headline(b));
  if (wanting.length === 0) return "";
  const rows = wanting.slice(0, SHOWN_SCENARIOS).map((scenario) => [
    form.name(scenario.label),
    showScore(scenario.averages[HEADLINE]),
    `${scenario.below} of ${scenario.turns}`,
    `${scenario.failed}`,
  ]);
  const more = wanting.length - rows.length;
  return form.title("Lowest scenarios", 2) +
    form.table(["scenario", HEADLINE, `turns below ${threshold}`, "failed calls"], rows) +
    (more > 0 ? form.lines([`and ${more} more with turns that did not pass`]) : "");
}

function headline({ averages }: ScenarioDigest): number {
  return averages[HEADLINE] ?? 0;
}
