import { type ChatTurn, toTurns } from "./chat_messages.ts";
import { type DatasetFormat, type ImportContext, ImportError } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";
import { readWhole } from "./lines.ts";
import { toChecks } from "./promptfoo_checks.ts";
import { render } from "./promptfoo_template.ts";

/** Variables that hold the question if there is no prompt to put them into. */
const QUESTIONS = ["question", "input", "query", "prompt", "message", "user_message", "text"];
/** Parts of a configuration that say what to test, and not what is expected. */
const READ = new Set(["description", "prompts", "tests", "defaultTest"]);
/** Tests that the lists in their variables multiply to. */
const MOST_COMBINATIONS = 1000;

type Values = Record<string, unknown>;

/** A configuration of promptfoo, or its list of tests alone. */
export const promptfoo: DatasetFormat = {
  name: "promptfoo",
  about: "a configuration of promptfoo in YAML or JSON: tests with vars and assert",
  isWhole: true,
  async *read(pieces, context) {
    const { isMap, isSeq, LineCounter, parseDocument } = await import("yaml"); // for no other format
    const counter = new LineCounter();
    const yaml = parseDocument(await readWhole(pieces), { lineCounter: counter });
    const [error] = yaml.errors;
    if (error) throw new ImportError(error.linePos?.[0].line ?? 1, error.message.split("\n")[0]!);
    const root = yaml.toJS({ maxAliasCount: 100 });
    const config: Values = Array.isArray(root) ? { tests: root } : isFields(root) ? root : {};
    for (const name of Object.keys(config)) {
      if (!READ.has(name)) context.leaveOut(`${name} of the configuration`, 1);
    }
    if (!Array.isArray(config.tests)) {
      throw new ImportError(1, "there is no list of tests; tests in other files are not read");
    }
    const list = isMap(yaml.contents) ? yaml.get("tests") : yaml.contents;
    for (const [index, test] of config.tests.entries()) {
      const node = isSeq(list) ? list.items[index] as { range?: [number] } | null : null;
      const line = counter.linePos(node?.range?.[0] ?? 0).line;
      yield* readTest(test, { ...context, config, line, index });
    }
  },
};

type TestContext = ImportContext & { config: Values; line: number; index: number };

function* readTest(test: unknown, context: TestContext) {
  const { config, line, index, leaveOut } = context;
  if (!isFields(test)) {
    leaveOut("tests that are no objects, such as paths of files", line);
    return;
  }
  const shared = isFields(config.defaultTest) ? config.defaultTest : {};
  const { description, vars, assert, threshold = shared.threshold, ...rest } = test;
  for (const name of Object.keys(rest)) leaveOut(`${name} of a test`, line);
  const asserts = [assert, shared.assert].flatMap((list) => Array.isArray(list) ? list : []);
  const all = { ...asValues(shared.vars), ...asValues(vars) };
  for (const [nth, combination] of combine(all, line).entries()) {
    const values = fillIn(combination, { line, leaveOut });
    const { checks, reference } = toChecks(asserts, { ...context, values, threshold });
    const turns = toConversation(values, context);
    const last = turns.at(-1)!;
    if (reference !== undefined) last.reference_reply ??= reference;
    const interactions = turns.map((turn, at) => ({
      id: String(at + 1),
      ...turn,
      ...(turn === last && checks.length > 0 && { checks }),
    }));
    const id = nth === 0 ? `test-${index + 1}` : `test-${index + 1}.${nth + 1}`;
    yield {
      line,
      scenario: {
        id,
        ...(typeof description === "string" && { description }),
        interactions,
      },
    };
  }
}

function asValues(vars: unknown): Values {
  return isFields(vars) ? vars : {};
}

/** promptfoo tests every combination of the values of variables that are lists. */
function combine(values: Values, line: number): Values[] {
  let found: Values[] = [{}];
  for (const [name, value] of Object.entries(values)) {
    const choices = Array.isArray(value) ? value : [value];
    found = found.flatMap((chosen) => choices.map((choice) => ({ ...chosen, [name]: choice })));
    if (found.length > MOST_COMBINATIONS) {
      throw new ImportError(line, `the lists in vars make more than ${MOST_COMBINATIONS} tests`);
    }
  }
  return found;
}

/** Variables may contain one another. */
function fillIn(
  values: Values,
  context: Pick<ImportContext, "leaveOut"> & { line: number },
): Values {
  const filled = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "string" ? render(value, { values, ...context }) : value,
  ]);
  return Object.fromEntries(filled);
}

function toConversation(values: Values, { config, line, leaveOut }: TestContext): ChatTurn[] {
  const prompt = findPrompt(config, { line, leaveOut });
  if (prompt === undefined) {
    const names = Object.keys(values).filter((name) => typeof values[name] === "string");
    const name = QUESTIONS.find((question) => names.includes(question)) ?? names[0];
    if (name === undefined) throw new ImportError(line, "the test has no text in vars");
    for (const other of names) if (other !== name) leaveOut(`the variable ${other}`, line);
    return [{ user_message: values[name] as string }];
  }
  const text = render(prompt, { values, line, leaveOut });
  const messages = parseMessages(text);
  const turns = messages ? toTurns(messages, { line, leaveOut }) : [{ user_message: text }];
  if (turns.length === 0) throw new ImportError(line, "the prompt has no user message");
  return turns;
}

/** The first prompt that is written in the configuration itself. */
function findPrompt(
  { prompts }: Values,
  { leaveOut }: Pick<ImportContext, "leaveOut"> & { line: number },
): string | undefined {
  const all = Array.isArray(prompts) ? prompts : prompts === undefined ? [] : [prompts];
  const texts = all.map((prompt) => isFields(prompt) ? prompt.raw ?? prompt.id : prompt)
    .filter((text): text is string => typeof text === "string");
  const [prompt, ...others] = texts.filter((text) => !/^(?:file|exec):\/\/|\.\w{2,4}$/.test(text));
  if (all.length > 0 && prompt === undefined) leaveOut("prompts in other files", 1);
  if (others.length > 0) leaveOut("all prompts but the first", 1);
  return prompt;
}

/** A prompt may be a list of chat messages as JSON. */
function parseMessages(text: string): unknown[] | undefined {
  if (!text.trimStart().startsWith("[")) return undefined;
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) && value.every(isFields) ? value : undefined;
  } catch {
    return undefined;
  }
}
