import { formatP } from "../../../shared/rounding.ts";
import { regressedScores } from "../../compare/verdict.ts";
import type { ExportSource } from "../format.ts";
import { showScore } from "../text/text_form.ts";
import { xmlAttributes } from "./xml.ts";

/** A suite of its own for a comparison with a baseline: a case a score, and what has failed in it. */
export interface ComparisonSuite {
  tests: number;
  failures: number;
  errors: number;
  xml: string;
}

/** A score that has regressed is a `failure`, as it is for the command line. */
export function comparisonSuite(
  { comparison }: ExportSource,
  prefix: string,
): ComparisonSuite | undefined {
  if (!comparison) return undefined;
  const { baseline, result: { scores }, isRequired } = comparison;
  const name = `${prefix}compared with ${baseline}`;
  const regressed = new Set(regressedScores(scores));
  const cases = Object.entries(scores).map(([score, compared]) => {
    const { baseline, candidate, p_adjusted, verdict, reason } = compared;
    const why = verdict === "regressed" ? `adjusted p ${formatP(p_adjusted)}` : reason;
    const message = `${score} fell from ${showScore(baseline)} to ${showScore(candidate)} (${why})`;
    const failure = regressed.has(score)
      ? `      <failure${xmlAttributes({ message, type: "regressed" })}/>\n`
      : "";
    return writeCase({ suite: name, name: score, content: failure });
  });
  const isMissing = cases.length === 0 && isRequired === true;
  if (isMissing) {
    const message = "the runs have no scenario and score in common";
    const error = `      <error${xmlAttributes({ message, type: "nothing_in_common" })}/>\n`;
    cases.push(writeCase({ suite: name, name: "has something in common", content: error }));
  }
  const counts = { tests: cases.length, failures: regressed.size, errors: isMissing ? 1 : 0 };
  const attributes = xmlAttributes({ name, ...counts, skipped: 0, time: "0.000" });
  return { ...counts, xml: `  <testsuite${attributes}>\n${cases.join("")}  </testsuite>\n` };
}

function writeCase(
  { suite, name, content }: { suite: string; name: string; content: string },
): string {
  const open = `    <testcase${xmlAttributes({ classname: suite, name })}`;
  return content === "" ? `${open}/>\n` : `${open}>\n${content}    </testcase>\n`;
}
