import { groupFormats, type GroupSource } from "../export/group_formats.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";
import type { Output } from "./outputs.ts";

/** Throws `UsageError` if a group cannot be written into one of the files. */
export function requireGroupFormats(outputs: Output[]): void {
  for (const { path } of outputs) groupFormatOf(path);
}

/** Writes a group into each file, and says so. */
export async function writeGroup(
  source: GroupSource,
  { outputs, context }: { outputs: Output[]; context: CliContext },
): Promise<void> {
  for (const { path } of outputs) {
    await context.writeText(path, groupFormatOf(path).write(source));
    context.err.write(`wrote ${path}\n`);
  }
}

function groupFormatOf(path: string) {
  const found = groupFormats.find(({ extension }) => path.toLowerCase().endsWith(`.${extension}`));
  if (found) return found;
  const extensions = groupFormats.map(({ extension }) => `.${extension}`).join(" ");
  throw new UsageError(
    `cannot write ${path}: with several models the extension must be one of ${extensions}`,
  );
}
