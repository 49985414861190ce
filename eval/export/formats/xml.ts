import { formatP } from "../../../shared/rounding.ts";
import { isRegression } from "../../compare/verdict.ts";
import type { ExportSource } from "../format.ts";
import { showScore } from "../text/text_form.ts";

/** What XML 1.0 has no way to write, not even escaped. */
// deno-lint-ignore no-control-regex -- they are what is looked for
const UNWRITABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/g;

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // In an attribute, readers turn these into blanks or drop them unless they are escaped.
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Text between tags. Control characters are left out, a half surrogate pair becomes U+FFFD. */
export function xmlText(text: string): string {
  return clean(text).replace(/[&<>\r]/g, (character) => ENTITIES[character]!);
}

/**
 * Attributes with a blank before each; the values may hold anything.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(xmlAttributes({ name: "a < b", tests: 2 }), ' name="a &lt; b" tests="2"');
 * ```
 */
export function xmlAttributes(attributes: Record<string, string | number>): string {
  const escape = (value: string | number) =>
    clean(String(value)).replace(/[&<>"\t\n\r]/g, (character) => ENTITIES[character]!);
  return Object.entries(attributes).map(([name, value]) => ` ${name}="${escape(value)}"`).join("");
}

function clean(text: string): string {
  return text.toWellFormed().replace(UNWRITABLE, "");
}

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
