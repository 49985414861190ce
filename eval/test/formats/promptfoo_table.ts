import { type Fields, isFields, tryParseJson } from "../../../shared/service/fields.ts";

/** promptfoo's names of assertions: a cell that begins with one is that assertion, any other a text. */
const TYPES = [
  ...["agent-rubric", "answer-relevance", "bleu", "classifier", "contains", "contains-all"],
  ...["contains-any", "contains-html", "contains-json", "contains-sql", "contains-xml"],
  ...["context-faithfulness", "context-recall", "context-relevance", "conversation-relevance"],
  ...["cost", "equals", "factuality", "finish-reason", "g-eval", "gleu", "guardrails"],
  ...["icontains", "icontains-all", "icontains-any", "is-html", "is-json", "is-refusal"],
  ...["is-sql", "is-valid-function-call", "is-valid-openai-function-call"],
  ...["is-valid-openai-tools-call", "is-xml", "javascript", "latency", "levenshtein"],
  ...["llm-rubric", "pi", "meteor", "model-graded-closedqa", "model-graded-factuality"],
  ...["moderation", "perplexity", "perplexity-score", "python", "regex", "rouge-n", "ruby"],
  ...["similar", "starts-with", "tool-call-f1", "search-rubric", "webhook", "word-count"],
];
const ASSERTION = new RegExp(
  `^((?:not-)?(?:${TYPES.join("|")}))(?:\\((\\d+(?:\\.\\d+)?)\\))?(?::([^]*))?$`,
);

/** Other names for some of them. */
const ALIASES: [prefix: string, type: string][] = [
  ["fn:", "javascript"],
  ["eval:", "javascript"],
  ["grade:", "llm-rubric"],
];

/** What promptfoo takes for `similar` in a table if the cell does not say it. */
const SIMILAR_THRESHOLD = 0.8;

/** Whether a table is one of promptfoo's tests, by its first line. */
export function isTestTable(header: string): boolean {
  return /(?:^|[,;\t])\s*"?__expected\d*"?\s*(?:[,;\t\r\n]|$)/.test(header);
}

/** Whether a text is one of promptfoo's tests as JSON, as a file has one per line. */
export function isTestLine(line: string): boolean {
  const value = tryParseJson(line);
  return isFields(value) && ("vars" in value || "assert" in value) && !("tests" in value);
}

/** The test that a row of such a table is: columns are variables, unless they begin with `__`. */
export function toTest(cells: Record<string, string>): Fields {
  const vars: Record<string, string> = {};
  const test: Fields = { vars };
  const assert: Fields[] = [];
  for (const [name, cell] of Object.entries(cells)) {
    if (!name.startsWith("__")) {
      if (name !== "") vars[name] = cell;
    } else if (cell.trim() === "") continue;
    else if (/^__expected\d*$/.test(name)) assert.push(toAssertion(cell.trim()));
    else if (name === "__description") test.description = cell;
    else if (name === "__threshold") test.threshold = Number(cell);
    else if (name !== "__metric") test[name] = cell;
  }
  const metric = cells.__metric?.trim();
  return { ...test, assert: assert.map((one) => ({ ...one, ...(metric && { metric }) })) };
}

function toAssertion(cell: string): Fields {
  const alias = ALIASES.find(([prefix]) => cell.startsWith(prefix));
  if (alias) return { type: alias[1], value: cell.slice(alias[0].length).trim() };
  if (/^file:\/\/.*\.py\b/.test(cell)) return { type: "python", value: cell };
  if (/^file:\/\/.*\.[cm]?[jt]s\b/.test(cell)) return { type: "javascript", value: cell };
  const [, type, given, value] = ASSERTION.exec(cell) ?? [];
  if (type === undefined) return { type: "equals", value: cell };
  const isSimilar = type.endsWith("similar");
  const threshold = given ? Number(given) : isSimilar ? SIMILAR_THRESHOLD : undefined;
  return {
    type,
    ...(value !== undefined && { value: value.trim() }),
    ...(threshold !== undefined && { threshold }),
  };
}
