import { assertRejects } from "@std/assert";
import { detectFormat } from "../../../../eval/test/datasets/detect.ts";
import { type ColumnMapping, ImportError } from "../../../../eval/test/formats/format.ts";
import { importScenarios } from "../../../../eval/test/datasets/import_scenarios.ts";

interface Hints {
  name?: string;
  columns?: ColumnMapping;
}

/** Reads a file as a caller would, in pieces of seven characters if it is one text. */
export async function read(file: string | Iterable<string>, hints: Hints = {}) {
  const { format, scenarios, leftOut } = open(file, hints);
  const found = await Array.fromAsync(scenarios, ({ scenario }) => scenario);
  return { format: format.name, scenarios: found, leftOut: leftOut() };
}

/** A file that is read as its scenarios are taken. Of several pieces the first is the beginning. */
export function open(file: string | Iterable<string>, { name, columns }: Hints = {}) {
  const [beginning = ""] = typeof file === "string" ? [file] : file;
  const format = detectFormat(beginning, { name, columns });
  const pieces = ReadableStream.from(typeof file === "string" ? cut(file) : file);
  return { format, ...importScenarios(pieces, { format, columns }) };
}

function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7);
}

/** The fields of a turn without the defaults of the schema. */
export function turns({ scenarios }: Awaited<ReturnType<typeof read>>) {
  return scenarios.map(({ interactions }) =>
    interactions.map(({ user_message, reference_reply }) => [user_message, reference_reply])
  );
}

/** Reads a file that cannot be imported. */
export const refuse = (file: string | Iterable<string>, hints: Hints = {}) =>
  assertRejects(() => read(file, hints), ImportError);
