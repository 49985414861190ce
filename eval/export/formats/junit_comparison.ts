import { formatP } from "../../../shared/rounding.ts";
import { isRegression } from "../../compare/verdict.ts";
import type { ExportSource } from "../format.ts";
import { showScore } from "../text/text_form.ts";
import { xmlAttributes } from "./xml.ts";

/** A suite of its own for a comparison with a baseline: the score that decides, and new failures. */
export interface ComparisonSuite {
  tests: number;
  failures: number;
  errors: number;
  xml: string;
}

/** A regression is a `failure`, as it is for the command line. */
export function comparisonSuite(
  { comparison }: ExportSource,
  prefix: string,
): ComparisonSuite | undefined {
  if (!comparison) return undefined;
  const { baseline, result, isRequired, newFailures = [] } = comparison;
  const { decided_by, scores, reason } = result;
  const score = scores[decided_by];
  const suite = `${prefix}compared with ${baseline}`;
  const isWorse = isRegression(result);
  const counts = {
    tests: 1 + newFailures.length,
    failures: (isWorse ? 1 : 0) + newFailures.length,
    errors: !score && isRequired === true ? 1 : 0,
  };
  const means = score && [score.baseline, score.candidate].map(showScore).join(" to ");
  const failure = {
    type: "regressed",
    message: `${decided_by} fell from ${means} (${reason ?? `p ${formatP(score?.p ?? 1)}`})`,
  };
  const content = isWorse
    ? `      <failure${xmlAttributes(failure)}/>\n`
    : counts.errors > 0
    ? `      <error${xmlAttributes({ message: reason ?? "", type: "not_comparable" })}/>\n`
    : "";
  const writeCase = (name: string, content: string) => {
    const open = `    <testcase${xmlAttributes({ classname: suite, name })}`;
    return content === "" ? `${open}/>\n` : `${open}>\n${content}    </testcase>\n`;
  };
  const newFailure = {
    type: "new_failure",
    message: "passed in every attempt of the baseline and in none now",
  };
  const written = writeCase(decided_by, content) +
    newFailures.map((id) => writeCase(id, `      <failure${xmlAttributes(newFailure)}/>\n`))
      .join("");
  const attributes = xmlAttributes({ name: suite, ...counts, skipped: 0, time: "0.000" });
  return { ...counts, xml: `  <testsuite${attributes}>\n${written}  </testsuite>\n` };
}
