import { assertRejects } from "@std/assert";
import { detectFormat } from "../../../eval/datasets/detect.ts";
import {
  type ColumnMapping,
  type DatasetFormat,
  ImportError,
} from "../../../eval/datasets/formats/format.ts";
import { readWhole } from "../../../eval/datasets/formats/lines.ts";
import { promptfoo } from "../../../eval/datasets/formats/promptfoo.ts";
import { openPromptfoo, readPromptfoo } from "../../../eval/datasets/formats/promptfoo_file.ts";
import { isTestTable } from "../../../eval/datasets/formats/promptfoo_table.ts";
import { importScenarios } from "../../../eval/datasets/import_scenarios.ts";

interface Hints {
  name?: string;
  columns?: ColumnMapping;
  /** Files of promptfoo are read in a worker, as the service reads them; its tables always are. */
  inWorker?: boolean;
}

/** What the worker does, in this thread: to start one takes longer than to read most files. */
const promptfooHere: DatasetFormat = {
  ...promptfoo,
  async *read(pieces, { leaveOut }) {
    const opened = openPromptfoo({ text: await readWhole(pieces), hasFiles: false });
    yield* readPromptfoo(opened, { files: new Map(), leaveOut });
  },
};

/** Reads a file as a caller would, in pieces of seven characters. */
export async function read(text: string, { name, columns, inWorker = false }: Hints = {}) {
  const detected = detectFormat(text, { name, columns });
  const isHere = detected === promptfoo && !inWorker && !isTestTable(text.split("\n", 1)[0]!);
  const format = isHere ? promptfooHere : detected;
  const { scenarios, leftOut } = importScenarios(pieces(text), { format, columns });
  const found = await Array.fromAsync(scenarios, ({ scenario }) => scenario);
  return { format: format.name, scenarios: found, leftOut: leftOut() };
}

async function* pieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7);
}

/** What a turn says and expects, without the defaults of the schema. */
export function turns({ scenarios }: Awaited<ReturnType<typeof read>>) {
  return scenarios.map(({ interactions }) =>
    interactions.map(({ user_message, reference_reply }) => [user_message, reference_reply])
  );
}

/** Reads a file that cannot be imported. */
export const refuse = (text: string, hints: Hints = {}) =>
  assertRejects(() => read(text, hints), ImportError);
