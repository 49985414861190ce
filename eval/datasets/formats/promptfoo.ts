import type { Document } from "yaml";
import { type ChatTurn, toTurns } from "./chat_messages.ts";
import { type DatasetFormat, type ImportContext, ImportError } from "./format.ts";
import { errorMessage } from "../../../shared/errors.ts";
import { asFields, asList, isFields } from "../../../shared/fields.ts";
import { readWhole } from "./lines.ts";
import { toChecks } from "./promptfoo_checks.ts";
import { findPrompt, type ParseYaml, readPrompt } from "./promptfoo_prompt.ts";
import { expandScenarios } from "./promptfoo_scenarios.ts";
import { resolveVariables } from "./promptfoo_template.ts";

/** Variables that hold the question if there is no prompt to put them into. */
const QUESTIONS = ["question", "input", "query", "prompt", "message", "user_message", "text"];
/** Parts of a configuration that say what to test, and not what is expected. */
const READ = new Set(["description", "prompts", "tests", "scenarios", "defaultTest"]);
/** Tests that the lists in their variables multiply to. */
const MOST_COMBINATIONS = 1000;

type Values = Record<string, unknown>;

/** A configuration of promptfoo, or its list of tests alone. */
export const promptfoo: DatasetFormat = {
  name: "promptfoo",
  about: "a configuration of promptfoo in YAML or JSON: tests with vars and assert",
  isWhole: true,
  async *read(pieces, context) {
    // Only for this format.
    const { isMap, isSeq, LineCounter, parse, parseDocument } = await import("yaml");
    const parseYaml = (text: string) => parse(text, { logLevel: "error", maxAliasCount: 100 });
    const counter = new LineCounter();
    const yaml = parseDocument(await readWhole(pieces), { lineCounter: counter });
    const [error] = yaml.errors;
    if (error) throw new ImportError(error.linePos?.[0].line ?? 1, error.message.split("\n")[0]!);
    const root = toTree(yaml);
    const config: Values = Array.isArray(root) ? { tests: root } : isFields(root) ? root : {};
    for (const name of Object.keys(config)) {
      if (!READ.has(name)) context.leaveOut(`${name} of the configuration`, 1);
    }
    if (!Array.isArray(config.tests) && !Array.isArray(config.scenarios)) {
      throw new ImportError(1, "there is no list of tests; tests in other files are not read");
    }
    if (!Array.isArray(config.tests ?? [])) context.leaveOut("tests in other files", 1);
    const shared = readShared(config.defaultTest, context);
    const lineOf = (part: string, index: number) => {
      const list = isMap(yaml.contents) ? yaml.get(part) : yaml.contents;
      const node = isSeq(list) ? list.items[index] as { range?: [number] } | null : null;
      return counter.linePos(node?.range?.[0] ?? 0).line;
    };
    for (const [index, test] of asList(config.tests).entries()) {
      const line = lineOf("tests", index);
      yield* readTest(test, {
        ...context,
        config,
        shared,
        line,
        id: `test-${index + 1}`,
        parseYaml,
      });
    }
    for (const { scenario, id, test } of expandScenarios(config.scenarios, context.leaveOut)) {
      const line = lineOf("scenarios", scenario);
      yield* readTest(test, { ...context, config, shared, line, id, parseYaml });
    }
  },
};

/** The value of a document. Aliases may be unknown, too many, or make an endless tree. */
function toTree(yaml: Document.Parsed): unknown {
  try {
    const root = yaml.toJS({ maxAliasCount: 100 });
    JSON.stringify(root); // fails if something contains itself
    return root;
  } catch (error) {
    throw new ImportError(1, errorMessage(error).split("\n")[0]!);
  }
}

/** What every test takes over from `defaultTest`. */
interface SharedParts {
  vars: Values;
  asserts: unknown[];
  threshold: unknown;
  isTransformed: boolean;
}

type TestContext = ImportContext & {
  config: Values;
  shared: SharedParts;
  line: number;
  id: string;
  parseYaml: ParseYaml;
};
type LineContext = Pick<TestContext, "line" | "leaveOut">;

function readShared(defaultTest: unknown, { leaveOut }: ImportContext): SharedParts {
  const context = { line: 1, leaveOut };
  if (!isFields(defaultTest ?? {})) leaveOut("defaultTest in another file", 1);
  const { description: _, vars, assert, threshold, ...rest } = asFields(defaultTest);
  for (const name of Object.keys(rest)) leaveOut(`${name} of defaultTest`, 1);
  return {
    vars: readVars(vars, context),
    asserts: readAsserts(assert, context),
    threshold,
    isTransformed: isTransforming(rest.options),
  };
}

/** Whether assertions look at something else than the reply: what a program makes of it. */
function isTransforming(options: unknown): boolean {
  const { transform, postprocess } = asFields(options);
  return (transform ?? postprocess) !== undefined;
}

function* readTest(test: unknown, context: TestContext) {
  const { shared, line, id, leaveOut } = context;
  if (!isFields(test)) {
    leaveOut("tests that are no objects, such as paths of files", line);
    return;
  }
  const { description, vars, assert, threshold = shared.threshold, ...rest } = test;
  for (const name of Object.keys(rest)) leaveOut(`${name} of a test`, line);
  if (threshold !== undefined) {
    leaveOut("threshold of a test: its checks count, but none is required", line);
  }
  const asserts = [...readAsserts(assert, context), ...shared.asserts];
  const choices = listChoices({ ...shared.vars, ...readVars(vars, context) });
  const count = countCombinations(choices, line);
  if (count === 0) leaveOut("tests with an empty list in vars", line);
  for (let nth = 0; nth < count; nth++) {
    const combination = combine(choices, nth);
    const values = fillIn(combination, { line, leaveOut });
    const turns = toConversation(values, context);
    const last = turns.at(-1)!;
    const { checks, reference } = toChecks(asserts, {
      values,
      line,
      leaveOut,
      threshold,
      isTransformed: shared.isTransformed || isTransforming(rest.options),
      reference: last.reference_reply,
      parseYaml: context.parseYaml,
    });
    if (reference !== undefined) last.reference_reply = reference;
    const interactions = turns.map((turn, at) => ({
      id: String(at + 1),
      ...turn,
      ...(turn === last && checks.length > 0 && { checks }),
    }));
    yield {
      line,
      scenario: {
        id: nth === 0 ? id : `${id}.${nth + 1}`,
        ...(typeof description === "string" && { description }),
        interactions,
      },
    };
  }
}

function readVars(vars: unknown, { line, leaveOut }: LineContext): Values {
  if (!isFields(vars ?? {})) leaveOut("vars in other files", line);
  return asFields(vars);
}

function readAsserts(assert: unknown, { line, leaveOut }: LineContext): unknown[] {
  if (!Array.isArray(assert ?? [])) leaveOut("assert that is no list", line);
  return asList(assert);
}

/** The values that each variable takes in turn: a list's, or one. */
type Choices = [name: string, values: unknown[]][];

function listChoices(variables: Values): Choices {
  return Object.entries(variables)
    .map(([name, value]) => [name, Array.isArray(value) ? value : [value]]);
}

/** promptfoo tests every combination of the values of variables that are lists. */
function countCombinations(choices: Choices, line: number): number {
  let count = 1;
  for (const [, values] of choices) {
    count *= values.length;
    if (count > MOST_COMBINATIONS) {
      throw new ImportError(line, `the lists in vars make more than ${MOST_COMBINATIONS} tests`);
    }
  }
  return count;
}

/** One of them, by its number; the last list changes first. */
function combine(choices: Choices, nth: number): Values {
  let rest = nth;
  const chosen = choices.toReversed().map(([name, values]): [string, unknown] => {
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    return [name, value];
  });
  return Object.fromEntries(chosen.reverse());
}

/** Variables may contain one another. Those in other files are left out. */
function fillIn(all: Values, context: LineContext): Values {
  const values = Object.fromEntries(
    Object.entries(all).filter(([name, value]) => {
      const isInFile = typeof value === "string" && value.startsWith("file://");
      if (isInFile) context.leaveOut(`the variable ${name} in another file`, context.line);
      return !isInFile;
    }),
  );
  return resolveVariables(values, context);
}

function toConversation(values: Values, context: TestContext): ChatTurn[] {
  const { config, line, leaveOut, parseYaml } = context;
  const prompt = findPrompt(config.prompts, leaveOut);
  if (prompt === undefined) {
    const names = Object.keys(values).filter((name) => typeof values[name] === "string");
    const name = QUESTIONS.find((question) => names.includes(question)) ?? names[0];
    if (name === undefined) throw new ImportError(line, "the test has no text in vars");
    for (const other of Object.keys(values)) {
      if (other !== name) leaveOut(`the variable ${other}`, line);
    }
    return [{ user_message: values[name] as string }];
  }
  const asked = readPrompt(prompt, { values, line, leaveOut, parseYaml });
  const turns = typeof asked === "string"
    ? [{ user_message: asked }]
    : toTurns(asked, { line, leaveOut });
  if (turns.length === 0) throw new ImportError(line, "the prompt has no user message");
  return turns;
}
