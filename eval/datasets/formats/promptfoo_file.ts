import { readYaml } from "./bounded_yaml.ts";
import { type Chat, toChat } from "./chat_messages.ts";
import { type Draft, type ImportContext, ImportError, QUESTIONS } from "./format.ts";
import { asFields, asList, isFields } from "../../../shared/fields.ts";
import { toChecks } from "./promptfoo_checks.ts";
import { findPrompt, readPrompt } from "./promptfoo_prompt.ts";
import { expandScenarios } from "./promptfoo_scenarios.ts";
import { combine, countCombinations, fillIn, listChoices } from "./promptfoo_variables.ts";

/** Parts of a configuration that say what to test, and not what is expected. */
const READ = new Set(["description", "prompts", "tests", "scenarios", "defaultTest"]);

type Values = Record<string, unknown>;

/**
 * The tests of a configuration of promptfoo, or of its list of tests alone. It takes its time, and
 * loads the package for YAML: only the worker loads this module.
 */
export function* readPromptfoo(
  text: string,
  leaveOut: ImportContext["leaveOut"],
): Generator<Draft, undefined> {
  const { root, lineOf } = readYaml(text);
  const config: Values = Array.isArray(root) ? { tests: root } : isFields(root) ? root : {};
  for (const name of Object.keys(config)) {
    if (!READ.has(name)) leaveOut(`${name} of the configuration`, 1);
  }
  if (!Array.isArray(config.tests) && !Array.isArray(config.scenarios)) {
    throw new ImportError(1, "there is no list of tests; tests in other files are not read");
  }
  if (!Array.isArray(config.tests ?? [])) leaveOut("tests in other files", 1);
  const context = { leaveOut, config, shared: readShared(config.defaultTest, leaveOut) };
  for (const [index, test] of asList(config.tests).entries()) {
    yield* readTest(test, { ...context, line: lineOf("tests", index), id: `test-${index + 1}` });
  }
  for (const { scenario, id, test } of expandScenarios(config.scenarios, leaveOut)) {
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
  line: number;
  id: string;
}
type LineContext = Pick<TestContext, "line" | "leaveOut">;

function readShared(
  defaultTest: unknown,
  leaveOut: ImportContext["leaveOut"],
): SharedParts {
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

function readVars(vars: unknown, { line, leaveOut }: LineContext): Values {
  if (!isFields(vars ?? {})) leaveOut("vars in other files", line);
  return asFields(vars);
}

function readAsserts(assert: unknown, { line, leaveOut }: LineContext): unknown[] {
  if (!Array.isArray(assert ?? [])) leaveOut("assert that is no list", line);
  return asList(assert);
}

function toConversation(values: Values, context: TestContext): Chat {
  const { config, line, leaveOut } = context;
  const prompt = findPrompt(config.prompts, leaveOut);
  if (prompt === undefined) {
    const names = Object.keys(values).filter((name) => typeof values[name] === "string");
    const name = QUESTIONS.find((question) => names.includes(question)) ?? names[0];
    if (name === undefined) throw new ImportError(line, "the test has no text in vars");
    for (const other of Object.keys(values)) {
      if (other !== name) leaveOut(`the variable ${other}`, line);
    }
    return { turns: [{ user_message: values[name] as string }] };
  }
  const asked = readPrompt(prompt, { values, line, leaveOut });
  if (typeof asked === "string") return { turns: [{ user_message: asked }] };
  const chat = toChat(asked, { line, leaveOut });
  if (chat.turns.length === 0) throw new ImportError(line, "the prompt has no user message");
  return chat;
}
