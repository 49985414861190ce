import { asFields, asList, type Fields, isFields } from "../../../shared/service/fields.ts";
import { parseYaml } from "./bounded_yaml.ts";
import { asPrompt, type Chat, toChat } from "./chat_messages.ts";
import { type Draft, type ImportContext, ImportError, QUESTIONS } from "./format.ts";
import { render, renderAll, toChecks } from "./promptfoo_checks.ts";

/** Variables that are asked as they are; others, such as a language, are put into a prompt. */
const WHOLE_QUESTIONS = ["question", "query", "user_message", "q"];
/** The most variables that an error names. */
const MOST_NAMED = 10;
/** The most combinations of the lists in a test's variables. */
const MOST_COMBINATIONS = 1000;

/** What every test takes over from `defaultTest`. */
export interface TestDefaults {
  vars: Fields;
  asserts: unknown[];
  threshold: unknown;
  options: unknown;
}

type LineContext = Pick<ImportContext, "leaveOut"> & { line: number };

interface TestContext extends LineContext {
  id: string;
  defaults: TestDefaults;
  prompt: string | undefined;
}

/** The scenarios that a test of promptfoo is: one per combination of its variables. */
export function* toDrafts(test: unknown, context: TestContext): Generator<Draft> {
  const { defaults, prompt, line, id, leaveOut } = context;
  if (!isFields(test)) return leaveOut("tests that are no objects, such as paths of files", line);
  if ("$ref" in test) return leaveOut("tests with $ref", line);
  const { description, vars, assert, threshold = defaults.threshold, ...rest } = test;
  for (const name of Object.keys(rest)) leaveOut(`${name} of a test`, line);
  if (threshold !== undefined) {
    leaveOut("threshold of a test: its checks count, but none is required", line);
  }
  const asserts = [...readAsserts(assert, context), ...defaults.asserts];
  const isTransformed = isTransforming(defaults.options) || isTransforming(rest.options);
  const all = combine({ ...defaults.vars, ...readVars(vars, context) }, line);
  if (all.length === 0) leaveOut("tests with an empty list in vars", line);
  for (const [nth, values] of all.entries()) {
    const filled = { values, line, leaveOut };
    const { turns, ...chat } = prompt === undefined
      ? { turns: [{ user_message: render(wholeQuestion(filled), filled) }] }
      : toConversation(prompt, filled);
    const last = turns.at(-1)! as Chat["turns"][number];
    const { checks, reference } = toChecks(asserts, {
      ...filled,
      threshold,
      isTransformed,
      reference: last.reference_reply,
    });
    const interactions = turns.map((turn, at) => ({
      id: String(at + 1),
      ...turn,
      ...(turn === last && reference !== undefined && { reference_reply: reference }),
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

/** Variables in other files are left out. */
export function readVars(vars: unknown, { line, leaveOut }: LineContext): Fields {
  if (!isFields(vars ?? {})) leaveOut("vars in other files", line);
  return Object.fromEntries(
    Object.entries(asFields(vars)).filter(([name, value]) => {
      const isInFile = typeof value === "string" && value.startsWith("file://");
      if (isInFile) leaveOut(`the variable ${name} in another file`, line);
      return !isInFile;
    }),
  );
}

export function readAsserts(assert: unknown, { line, leaveOut }: LineContext): unknown[] {
  if (!Array.isArray(assert ?? [])) leaveOut("assert that is no list", line);
  return asList(assert);
}

/** Whether assertions are about what a program makes of the reply. */
function isTransforming(options: unknown): boolean {
  const { transform, postprocess } = asFields(options);
  return (transform ?? postprocess) !== undefined;
}

/** promptfoo tests every combination of the values of variables that are lists, the last first. */
function combine(vars: Fields, line: number): Fields[] {
  const entries = Object.entries(vars);
  let all: Fields[] = [Object.fromEntries(entries)];
  for (const [name, values] of entries) {
    if (!Array.isArray(values)) continue;
    if (all.length * values.length > MOST_COMBINATIONS) {
      throw new ImportError(line, `the lists in vars make more than ${MOST_COMBINATIONS} tests`);
    }
    all = all.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  }
  return all;
}

interface FilledTest extends LineContext {
  values: Fields;
}

/** The variable that is the whole question of a test without a prompt. */
function wholeQuestion({ values, line, leaveOut }: FilledTest): string {
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
  return question;
}

/**
 * What a prompt asks: a text, or chat messages in JSON or YAML. Variables are put into the messages,
 * so that a quotation mark in one of them does no harm; into the prompt only if it is no list of
 * messages before (`{{ messages }}`).
 */
function toConversation(prompt: string, context: FilledTest): Chat {
  const written = parseMessages(prompt);
  const text = written ? "" : render(prompt, context);
  const messages = written ? renderAll(written, context) as unknown[] : parseMessages(text);
  if (!messages) return { turns: [{ user_message: text }] };
  const chat = toChat(messages, context);
  if (chat.turns.length === 0) {
    throw new ImportError(context.line, "the prompt has no user message");
  }
  return asPrompt(chat);
}

/** Messages in YAML, also behind comments and `---`. */
const YAML_MESSAGES = /^(?:[ \t]*(?:#[^\n]*|---[ \t]*)?\r?\n)*[ \t]*- role:/;

function parseMessages(text: string): unknown[] | undefined {
  const isJson = /^\s*\[/.test(text);
  if (!isJson && !YAML_MESSAGES.test(text)) return undefined;
  try {
    const value = isJson ? JSON.parse(text) : parseYaml(text);
    return Array.isArray(value) && value.every(isMessage) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** In YAML, `content: {{question}}` is an object before the variable is put in. */
function isMessage(value: unknown): boolean {
  return isFields(value) && !isFields(value.content);
}
