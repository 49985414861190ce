import { asFields, asList, type Fields, isFields } from "../../../shared/service/fields.ts";
import { readYaml } from "./bounded_yaml.ts";
import { type Draft, type ImportContext, ImportError, ofFile } from "./format.ts";
import { parseLine, readBeginning, readLines, readWhole } from "./lines.ts";
import { isTestLine, isTestTable, toTest } from "./promptfoo_table.ts";
import { readAsserts, readVars, type TestDefaults, toDrafts } from "./promptfoo_test_case.ts";
import { readTable } from "./table.ts";

/** Parts of a configuration that are read; the others are reported. */
const READ = new Set(["description", "prompts", "tests", "defaultTest"]);

/** Files that hold data, and no program; not several of them (`*`), and none of the network. */
const READABLE = /^(?:file:\/\/|(?!\w+:\/\/))[^*]+\.(?:csv|tsv|ya?ml|json|jsonl|txt|md|j2)$/i;

/** A test, and the line where it begins, in the file that has it. */
interface PlacedTest {
  test: unknown;
  line: number;
  /** Unset if it is the file that is imported. */
  file?: string;
}

const NO_DEFAULTS: TestDefaults = {
  vars: {},
  asserts: [],
  threshold: undefined,
  options: undefined,
};

/** The tests of a configuration of promptfoo, of a table, or of a file with one test per line. */
export async function* readPromptfoo(
  pieces: AsyncIterable<string>,
  context: ImportContext,
): AsyncGenerator<Draft> {
  const { beginning, all } = await readBeginning(pieces);
  const head = beginning.replace(/^\ufeff/, "").trimStart().split("\n", 1)[0]!;
  if (isTestTable(head)) yield* readTests(rows(all), { defaults: NO_DEFAULTS, context });
  else if (isTestLine(head)) yield* readTests(lines(all), { defaults: NO_DEFAULTS, context });
  else yield* readConfiguration(await readWhole(all), context);
}

async function* readConfiguration(text: string, context: ImportContext): AsyncGenerator<Draft> {
  const { leaveOut, readFile } = context;
  const { root, lineOf } = readYaml(text);
  const config: Fields = Array.isArray(root) ? { tests: root } : asFields(root);
  for (const name of Object.keys(config)) {
    if (!READ.has(name)) leaveOut(`${name} of the configuration`, 1);
  }
  if (!Array.isArray(config.tests) && !(readFile && isReadable(config.tests))) {
    throw new ImportError(
      1,
      readFile
        ? "there is no list of tests; scenarios, programs, addresses and several files (*) are " +
          "not read"
        : "there is no list of tests; only the command line reads those in other files",
    );
  }
  const defaults = readDefaults(config.defaultTest, leaveOut);
  const prompt = await findPrompt(config.prompts, context);
  yield* readTests(listTests(), { defaults, prompt, context });

  async function* listTests(): AsyncGenerator<PlacedTest> {
    for (const [index, test] of asItems(config.tests).entries()) {
      if (readFile && isReadable(test)) yield* testsOf(test, readFile);
      else yield { test, line: lineOf("tests", index) };
    }
  }
}

async function* readTests(
  tests: AsyncIterable<PlacedTest>,
  { defaults, prompt, context: { leaveOut } }: {
    defaults: TestDefaults;
    prompt?: string | undefined;
    context: ImportContext;
  },
): AsyncGenerator<Draft> {
  let count = 0;
  for await (const { test, line, file } of tests) {
    const id = `test-${++count}`;
    const report: ImportContext["leaveOut"] = (what, line) =>
      leaveOut(file === undefined ? what : `${what} in ${file}`, line);
    try {
      for (const draft of toDrafts(test, { id, line, defaults, prompt, leaveOut: report })) {
        yield { ...draft, file };
      }
    } catch (error) {
      throw ofFile(file, error);
    }
  }
}

/** The tests in another file. */
async function* testsOf(
  name: string,
  readFile: NonNullable<ImportContext["readFile"]>,
): AsyncGenerator<PlacedTest> {
  const text = await readFile(pathOf(name));
  const pieces = ReadableStream.from([text]);
  try {
    const tests = /\.[ct]sv$/i.test(name)
      ? rows(pieces)
      : /\.jsonl$/i.test(name)
      ? lines(pieces)
      : items(text);
    for await (const test of tests) yield { ...test, file: name };
  } catch (error) {
    throw ofFile(name, error);
  }
}

async function* rows(pieces: AsyncIterable<string>): AsyncGenerator<PlacedTest> {
  for await (const { cells, line } of readTable(pieces)) yield { test: toTest(cells), line };
}

async function* lines(pieces: AsyncIterable<string>): AsyncGenerator<PlacedTest> {
  for await (const line of readLines(pieces)) yield { test: parseLine(line), line: line.number };
}

function* items(text: string): Generator<PlacedTest> {
  const { root, lineOf } = readYaml(text);
  for (const [index, test] of asItems(root).entries()) yield { test, line: lineOf("", index) };
}

/** What every test takes over from `defaultTest`. */
function readDefaults(defaultTest: unknown, leaveOut: ImportContext["leaveOut"]): TestDefaults {
  const context = { line: 1, leaveOut };
  if (!isFields(defaultTest ?? {})) leaveOut("defaultTest in another file", 1);
  const { description: _, vars, assert, threshold, ...rest } = asFields(defaultTest);
  for (const name of Object.keys(rest)) leaveOut(`${name} of defaultTest`, 1);
  return {
    vars: readVars(vars, context),
    asserts: readAsserts(assert, context),
    threshold,
    options: rest.options,
  };
}

/** The first prompt; a file of text or of lines may have several. */
async function findPrompt(
  prompts: unknown,
  { leaveOut, readFile }: ImportContext,
): Promise<string | undefined> {
  const texts: string[] = [];
  for (const prompt of asItems(prompts)) {
    const text = isFields(prompt) ? prompt.raw ?? prompt.id : prompt;
    if (typeof text === "string" && !isFileName(text)) texts.push(text);
    else if (readFile && isReadable(text)) {
      texts.push(...splitPrompts(await readFile(pathOf(text)), text));
    } else leaveOut("prompts in other files", 1);
  }
  if (texts.length > 1) leaveOut("all prompts but the first", 1);
  return texts[0];
}

/** Such as `file://prompt.txt`, `prompts/*.json` and `prompt.py:create`, but not a sentence. */
function isFileName(text: string): boolean {
  if (/^(?:file|exec):\/\//.test(text)) return true;
  return !text.includes("{{") && /^\S+\.\w{1,5}(?::\w+)?$/.test(text);
}

function splitPrompts(text: string, file: string): string[] {
  const separator = /\.txt$/i.test(file) ? /^---\r?$/m : /\.jsonl$/i.test(file) ? "\n" : undefined;
  if (separator === undefined) return [text];
  return text.split(separator).map((part) => part.trim()).filter((part) => part !== "");
}

function isReadable(name: unknown): name is string {
  return typeof name === "string" && READABLE.test(name);
}

function pathOf(name: string): string {
  return name.replace(/^file:\/\//, "");
}

/** A list, or the one item that stands for it. */
function asItems(value: unknown): unknown[] {
  return value === undefined || value === null || Array.isArray(value) ? asList(value) : [value];
}
