import { readYaml } from "./bounded_yaml.ts";
import { asPrompt, type Chat, toChat } from "./chat_messages.ts";
import { type Draft, type ImportContext, ImportError, ofFile, QUESTIONS } from "./format.ts";
import { asFields, asList, isFields } from "../../../shared/fields.ts";
import { parseLine } from "./lines.ts";
import type { OtherFiles, RowGroup, WholeFile } from "./promptfoo.ts";
import { toChecks } from "./promptfoo_checks.ts";
import { insertFiles, listTests } from "./promptfoo_files.ts";
import { findPrompt, readPrompt } from "./promptfoo_prompt.ts";
import { followReference } from "./promptfoo_references.ts";
import { expandScenarios } from "./promptfoo_scenarios.ts";
import { isTestLine, toTest } from "./promptfoo_table.ts";
import { combine, countCombinations, fillIn, listChoices } from "./promptfoo_template.ts";

/** Parts of a configuration that say what to test, and not what is expected. */
const READ = new Set([
  ...["description", "prompts", "tests", "scenarios", "defaultTest"],
  "assertionTemplates", // what `$ref` names
]);

/** Variables that are asked as they are; others, such as a language, are put into a prompt. */
const WHOLE_QUESTIONS = ["question", "query", "user_message", "q"];
/** Variables that a message names. */
const MOST_NAMED = 10;

type Values = Record<string, unknown>;

/** A configuration, and the lines of its tests. */
export interface OpenedFile {
  config: Values;
  lineOf: (part: string, index: number) => number;
  /** Tests before these, in the same table. */
  before?: number;
  /** Whether other files can be read. */
  hasFiles: boolean;
}

/**
 * Opens a configuration of promptfoo, its list of tests alone, or rows of a table of them. It takes
 * its time, and loads the package for YAML: only the worker loads this module.
 */
export function openPromptfoo(file: WholeFile | RowGroup): OpenedFile {
  if ("rows" in file) {
    const { rows, before } = file;
    const tests = rows.map(({ cells }) => toTest(cells));
    return { config: { tests }, lineOf: (_, index) => rows[index]!.line, before, hasFiles: false };
  }
  if (isTestLine(file.text.split("\n", 1)[0]!)) {
    const lines = file.text.split("\n").map((text, index) => ({ text, number: index + 1 }))
      .filter(({ text }) => text.trim() !== "");
    const lineOf = (_: string, index: number) => lines[index]!.number;
    return { config: { tests: lines.map(parseLine) }, lineOf, hasFiles: false };
  }
  const { root, lineOf } = readYaml(file.text);
  const config = Array.isArray(root) ? { tests: root } : asFields(root);
  return { config, lineOf, hasFiles: file.hasFiles };
}

/** The tests of a configuration. Those in files that are not given are left out. */
export function* readPromptfoo(
  { config: written, lineOf, before = 0, hasFiles }: OpenedFile,
  { files, leaveOut }: { files: OtherFiles; leaveOut: ImportContext["leaveOut"] },
): Generator<Draft, undefined> {
  const config = insertFiles(written, files);
  const isGiven = typeof config.tests === "string" && files.has(config.tests);
  for (const name of Object.keys(config)) {
    if (!READ.has(name)) leaveOut(`${name} of the configuration`, 1);
  }
  if (!Array.isArray(config.tests) && !isGiven && !Array.isArray(config.scenarios)) {
    throw new ImportError(
      1,
      hasFiles
        ? "there is no list of tests; programs, addresses and several files (*) are not read"
        : "there is no list of tests; only the command line reads those in other files",
    );
  }
  if (!Array.isArray(config.tests ?? []) && !isGiven) leaveOut("tests in other files", 1);
  const shared = readShared(config, leaveOut);
  const context = { leaveOut, config, shared, prompt: findPrompt(config.prompts, leaveOut) };
  const tests = Array.isArray(config.tests) || isGiven ? config.tests : [];
  let count = before;
  for (const { test, line, file } of listTests(tests, { files, lineOf })) {
    const id = `test-${++count}`;
    yield* file === undefined
      ? readTest(test, { ...context, line, id })
      : readInFile(test, { ...context, line, id, file });
  }
  for (const { scenario, id, test } of expandScenarios(config, leaveOut)) {
    yield* readTest(test, { ...context, line: lineOf("scenarios", scenario), id });
  }
  return undefined;
}

/** What every test takes over from `defaultTest`. */
interface SharedParts {
  vars: Values;
  asserts: unknown[];
  threshold: unknown;
  isTransformed: boolean;
}

interface TestContext extends Pick<ImportContext, "leaveOut"> {
  config: Values;
  shared: SharedParts;
  prompt: string | undefined;
  line: number;
  id: string;
}
type LineContext = Pick<TestContext, "config" | "line" | "leaveOut">;

function readShared(config: Values, leaveOut: ImportContext["leaveOut"]): SharedParts {
  const defaultTest = followReference(config.defaultTest, config);
  const context = { config, line: 1, leaveOut };
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

/** The same for a test of another file, which is named in all that is said of the test. */
function* readInFile(
  test: unknown,
  { file, leaveOut, ...context }: TestContext & { file: string },
): Generator<Draft> {
  const leaveOutOfFile = (what: string, line: number) => leaveOut(`${what} in ${file}`, line);
  try {
    for (const draft of readTest(test, { ...context, leaveOut: leaveOutOfFile })) {
      yield { ...draft, file };
    }
  } catch (error) {
    throw ofFile(file, error);
  }
}

function* readTest(written: unknown, context: TestContext) {
  const { config, shared, line, id, leaveOut } = context;
  const test = followReference(written, config);
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
    const { turns, ...chat } = toConversation(values, context);
    const last = turns.at(-1)!;
    const { checks, reference } = toChecks(asserts, {
      values,
      line,
      leaveOut,
      threshold,
      isTransformed: shared.isTransformed || isTransforming(rest.options),
      reference: last.reference_reply,
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
        ...chat,
        interactions,
      },
    };
  }
}

function readVars(written: unknown, { config, line, leaveOut }: LineContext): Values {
  const vars = followReference(written, config);
  if (!isFields(vars ?? {})) leaveOut("vars in other files", line);
  return asFields(vars);
}

function readAsserts(written: unknown, { config, line, leaveOut }: LineContext): unknown[] {
  const follow = (value: unknown) => followReference(value, config);
  const assert = follow(written);
  if (!Array.isArray(assert ?? [])) leaveOut("assert that is no list", line);
  return asList(assert).map(follow).flatMap(outOfSet).map(follow);
}

/** A set of assertions that must all hold is the same as these by themselves. */
function outOfSet(assert: unknown): unknown[] {
  const { type, assert: inner, threshold, metric: _, ...rest } = asFields(assert);
  const isPlain = type === "assert-set" && threshold === undefined &&
    Object.keys(rest).length === 0;
  return isPlain && Array.isArray(inner) ? inner : [assert];
}

function toConversation(values: Values, context: TestContext): Chat {
  const { prompt, line, leaveOut } = context;
  if (prompt === undefined) {
    const names = Object.keys(values);
    const name = WHOLE_QUESTIONS.find((question) => names.includes(question)) ??
      (names.length === 1 ? QUESTIONS.find((question) => question === names[0]) : undefined);
    const question = name === undefined ? undefined : values[name];
    if (typeof question !== "string") {
      const shown = names.slice(0, MOST_NAMED).join(", ");
      throw new ImportError(
        line,
        `there is no prompt that the variables (${shown}) are put into; import the configuration ` +
          "with its prompts, or name the variable that is the whole question: question",
      );
    }
    for (const other of names) if (other !== name) leaveOut(`the variable ${other}`, line);
    return { turns: [{ user_message: question }] };
  }
  const asked = readPrompt(prompt, { values, line, leaveOut });
  if (typeof asked === "string") return { turns: [{ user_message: asked }] };
  const chat = toChat(asked, { line, leaveOut });
  if (chat.turns.length === 0) throw new ImportError(line, "the prompt has no user message");
  return asPrompt(chat);
}
