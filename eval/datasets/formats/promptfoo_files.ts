import { asList, type Fields, isFields } from "../../../shared/fields.ts";
import { readYaml } from "./bounded_yaml.ts";
import { ofFile } from "./format.ts";
import { type Line, parseLine } from "./lines.ts";
import type { OtherFiles } from "./promptfoo.ts";
import { isFileName } from "./promptfoo_prompt.ts";
import { toTest } from "./promptfoo_table.ts";

/** Files that hold data, and no program; not several of them (`*`), and none of the network. */
const READABLE = /^(?:file:\/\/|(?!\w+:\/\/))[^*]+\.(?:csv|tsv|ya?ml|json|jsonl|txt|md|j2)$/i;

/** A test, and the line where it begins, in the file that has it. */
interface PlacedTest {
  test: unknown;
  line: number;
  /** Unset if it is the configuration itself. */
  file?: string;
}

/** The other files that a configuration takes its tests, prompts and `defaultTest` from. */
export function listFiles({ tests, prompts, defaultTest }: Fields): string[] {
  const names = [
    ...asItems(tests),
    ...asItems(prompts).map(textOfPrompt).filter((text) => isText(text) && isFileName(text)),
    defaultTest,
  ];
  return [...new Set(names.filter(isText).filter((name) => READABLE.test(name)))];
}

/** The configuration with the prompts and the `defaultTest` of other files in their place. */
export function insertFiles(config: Fields, files: OtherFiles): Fields {
  const { prompts, defaultTest } = config;
  const textOf = (name: unknown) => {
    const content = isText(name) ? files.get(name) : undefined;
    return isText(content) ? content : undefined;
  };
  const ofTests = textOf(defaultTest);
  return {
    ...config,
    ...(prompts !== undefined && {
      prompts: asItems(prompts).flatMap((prompt) => {
        const name = textOfPrompt(prompt);
        const text = textOf(name);
        return text === undefined ? [prompt] : listPrompts(text, String(name));
      }),
    }),
    ...(ofTests !== undefined && { defaultTest: readDefaults(ofTests, String(defaultTest)) }),
  };
}

/** A file of text or of lines may have several prompts. */
function listPrompts(text: string, file: string): string[] {
  const ending = /[^.]*$/.exec(file)![0].toLowerCase();
  if (ending === "txt") return split(text, /^---\r?$/m);
  if (ending === "jsonl") return split(text, "\n");
  // Messages are recognized by their first one: comments before it are not part of a prompt.
  return /^ya?ml$/.test(ending) ? [text.replace(COMMENTS, "")] : [text];
}

/** Empty lines, comments and `---` at the beginning of a YAML text. */
const COMMENTS = /^(?:[ \t]*(?:#[^\n]*|---[ \t]*)?\r?\n)+/;

function split(text: string, separator: string | RegExp): string[] {
  return text.split(separator).map((part) => part.trim()).filter((part) => part !== "");
}

function readDefaults(text: string, file: string): unknown {
  try {
    return readYaml(text).root;
  } catch (error) {
    throw ofFile(file, error);
  }
}

/** The tests of a configuration, those of other files in their place. */
export function* listTests(
  tests: unknown,
  { files, lineOf }: { files: OtherFiles; lineOf: (part: string, index: number) => number },
): Generator<PlacedTest> {
  for (const [index, test] of asItems(tests).entries()) {
    const file = isText(test) ? test : "";
    const content = files.get(file);
    if (content === undefined) yield { test, line: lineOf("tests", index) };
    else if (Array.isArray(content)) {
      for (const { cells, line } of content) yield { test: toTest(cells), line, file };
    } else yield* readTests(content, file);
  }
}

function* readTests(text: string, file: string): Generator<PlacedTest> {
  try {
    if (/\.jsonl$/i.test(file)) {
      for (const [index, line] of text.split("\n").entries()) {
        const numbered: Line = { number: index + 1, text: line };
        if (line.trim() !== "") yield { test: parseLine(numbered), line: index + 1, file };
      }
      return;
    }
    const { root, lineOf } = readYaml(text);
    for (const [index, test] of asItems(root).entries()) {
      yield { test, line: lineOf("", index), file };
    }
  } catch (error) {
    throw ofFile(file, error);
  }
}

/** A list, or the one item that stands for it. */
function asItems(value: unknown): unknown[] {
  return value === undefined || value === null || Array.isArray(value) ? asList(value) : [value];
}

function textOfPrompt(prompt: unknown): unknown {
  return isFields(prompt) ? prompt.raw ?? prompt.id : prompt;
}

const isText = (value: unknown): value is string => typeof value === "string";
