import type { GroupFormat, GroupSource } from "../../export/group_format.ts";
import { groupFormats } from "../../export/formats/group_formats.ts";
import type { CliContext } from "../context.ts";
import { type Output, writeEach } from "./outputs.ts";

/** The format of this name; a group has those that a run has. */
export function groupFormat(name: string): GroupFormat {
  return groupFormats.find((format) => format.name === name)!;
}

/** Writes a group into each file, and says so. Throws as `writeEach` does. */
export async function writeGroup(
  source: GroupSource,
  { outputs, context }: { outputs: Output[]; context: CliContext },
): Promise<void> {
  await writeEach(outputs, {
    context,
    pieces: ({ format }) => groupFormat(format.name).write(source),
  });
}
