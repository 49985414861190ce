import { assertRejects } from "@std/assert";
import { detectFormat } from "../../../../eval/test/datasets/detect.ts";
import { type ColumnMapping, ImportError } from "../../../../eval/test/formats/format.ts";
import { importScenarios } from "../../../../eval/test/datasets/import_scenarios.ts";

interface Hints {
  name?: string;
  columns?: ColumnMapping;
}

/** Reads a file as a caller would, in pieces of seven characters. */
export async function read(text: string, { name, columns }: Hints = {}) {
  const format = detectFormat(text, { name, columns });
  const { scenarios, leftOut } = importScenarios(pieces(text), { format, columns });
  const found = await Array.fromAsync(scenarios, ({ scenario }) => scenario);
  return { format: format.name, scenarios: found, leftOut: leftOut() };
}

async function* pieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7);
}

/** The fields of a turn without the defaults of the schema. */
export function turns({ scenarios }: Awaited<ReturnType<typeof read>>) {
  return scenarios.map(({ interactions }) =>
    interactions.map(({ user_message, reference_reply }) => [user_message, reference_reply])
  );
}

/** Reads a file that cannot be imported. */
export const refuse = (text: string, hints: Hints = {}) =>
  assertRejects(() => read(text, hints), ImportError);
