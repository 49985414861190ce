import { z } from "zod";
import { AppError, notFound } from "../../../shared/service/errors.ts";
import type { Scenario } from "../scenario.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import type { DatasetReader, VersionRecord } from "../../store/datasets.ts";

/** A dataset's name: it is part of addresses, and comes before an `@`. */
export const DatasetName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/, {
  error: "must have 1 to 100 letters, digits, or . _ -, and begin with a letter or a digit",
});

/** A version, or its first characters. */
export const VersionBeginning = z.string().regex(/^[0-9a-f]{1,32}$/, {
  error: "must be 1 to 32 characters of a version: 0-9, a-f",
});

/** A dataset as a run names it. */
export interface DatasetReference {
  name: string;
  /** The latest if it is unset. */
  version?: string | undefined;
}

/** `support`, or `support@3f2a…`. */
export const DatasetReference = z.string().transform((text, context): DatasetReference => {
  const [, name = "", , version] = /^([^@]*)(@(.*))?$/s.exec(text) ?? [];
  const faults = {
    name: DatasetName.safeParse(name).error,
    version: VersionBeginning.optional().safeParse(version).error,
  };
  const [fault] = Object.entries(faults).filter(([, error]) => error);
  if (!fault) return { name, version };
  const [part, error] = fault;
  const reason = `the ${part} ${error?.issues[0]?.message}`;
  context.addIssue({ code: "custom", message: `must be NAME or NAME@VERSION; ${reason}` });
  return z.NEVER;
});

/**
 * The version that is meant; it may be named by its first characters. Throws 404 `not_found`, and
 * 400 `invalid_request` if several begin with them.
 */
export async function requireVersion(
  reader: DatasetReader,
  { name, version }: DatasetReference,
): Promise<VersionRecord> {
  const latest = await reader.latestVersion(name);
  if (!latest) {
    throw notFound(`cannot find dataset "${name}": there is no such dataset`);
  }
  if (version === undefined) return latest;
  const [found, other] = await reader.findVersions(name, version);
  if (!found) {
    throw notFound(`cannot find version ${version} of dataset "${name}": there is no such version`);
  }
  if (!other) return found;
  throw new AppError(
    400,
    "invalid_request",
    `cannot find version ${version} of dataset "${name}": several versions begin with it`,
  );
}

/** All scenarios of a version, for a run. */
export async function loadScenarios(
  reader: DatasetReader,
  version: VersionRecord,
): Promise<Scenario[]> {
  const scenarios: Scenario[] = [];
  const yieldIfDue = createYielder();
  for await (const lines of reader.scenarioLines(version)) {
    for (const line of lines.trimEnd().split("\n")) scenarios.push(JSON.parse(line));
    await yieldIfDue();
  }
  return scenarios;
}

/** How a run records its dataset. */
export function nameVersion({ name, version }: Pick<VersionRecord, "name" | "version">): string {
  return `${name}@${version}`;
}
