import { markdownComparison } from "./markdown_comparison.ts";
import { codeSpan, markdownTable } from "./markdown_text.ts";
import { digestRun, type RunDigest, type ScenarioDigest } from "./digest.ts";
import type { ExportFormat, ExportSource } from "./format.ts";
import { HEADLINE } from "./outcome.ts";

/** How many scenarios are shown: a pull request's comment holds 65,536 characters. */
const SHOWN_SCENARIOS = 10;

/** For a pull request's comment: whether it passed, the averages, and where to look first. */
export const markdown: ExportFormat = {
  name: "markdown",
  extension: "md",
  contentType: "text/markdown; charset=utf-8",
  async *write(source) {
    const digest = await digestRun(source);
    yield `## Evaluation ${codeSpan(source.run.testName)}: ${describeOutcome(digest, source)}\n\n`;
    yield `${describeRun(digest, source).join("  \n")}\n`;
    yield `\n### Scores\n\n${scoreTable(digest)}`;
    yield lowestScenarios(digest, source);
    if (source.comparison) yield `\n${markdownComparison(source.comparison)}`;
  },
};

function describeOutcome(
  { averages }: RunDigest,
  { threshold, comparison }: ExportSource,
): string {
  const mean = averages[HEADLINE] ?? null;
  if (mean === null) return "not scored";
  if (mean < threshold) return `below ${threshold}`;
  return comparison?.result.verdict === "regressed" ? "regressed" : "passed";
}

function describeRun(digest: RunDigest, { run, threshold }: ExportSource): string[] {
  const { turns, passed, below, failed, unscored, scenarios } = digest;
  const codes = [...digest.errors].map(([code, { count }]) => `${codeSpan(code)} ${count}`);
  const unfinished = turns < run.totalTurns ? `, ${turns} of ${run.totalTurns} turns` : "";
  return [
    `Model ${codeSpan(run.modelId)} at ${codeSpan(run.endpoint)}`,
    `Scenarios: ${scenarios.length}, attempts: ${run.attempts}, turns: ${turns} – ` +
    `${passed} passed, ${below} below ${threshold}, ${failed} failed` +
    (codes.length > 0 ? ` (${codes.join(", ")})` : "") +
    (unscored > 0 ? `, ${unscored} without a score` : ""),
    `Run ${codeSpan(run.id)}, ${run.status}${unfinished}`,
  ];
}

function scoreTable({ averages }: RunDigest): string {
  const scored = Object.entries(averages).filter(([, value]) => value !== null);
  const headline = scored.filter(([name]) => name === HEADLINE);
  const others = scored.filter(([name]) => name !== HEADLINE);
  const rows = [...headline, ...others].map(([name, value]) => [codeSpan(name), fixed(value)]);
  return markdownTable(["score", "mean"], rows);
}

function lowestScenarios({ scenarios }: RunDigest, { threshold }: ExportSource): string {
  const wanting = scenarios
    .filter(({ below, failed }) => below + failed > 0)
    .sort((a, b) => headline(a) - headline(b));
  if (wanting.length === 0) return "";
  const rows = wanting.slice(0, SHOWN_SCENARIOS).map((scenario) => [
    codeSpan(scenario.label),
    fixed(scenario.averages[HEADLINE]),
    `${scenario.below} of ${scenario.turns}`,
    `${scenario.failed}`,
  ]);
  const more = wanting.length - rows.length;
  return "\n### Lowest scenarios\n\n" +
    markdownTable(["scenario", HEADLINE, `turns below ${threshold}`, "failed calls"], rows) +
    (more > 0 ? `\nand ${more} more with turns that did not pass\n` : "");
}

function headline({ averages }: ScenarioDigest): number {
  return averages[HEADLINE] ?? 0;
}

function fixed(value: number | null | undefined): string {
  return typeof value === "number" ? value.toFixed(3) : "–";
}
