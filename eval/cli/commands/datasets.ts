import { counted } from "../../../shared/service/text.ts";
import { createContentChecks } from "../../score/content_checks.ts";
import { DatasetName, DatasetReference, requireVersion } from "../../test/datasets/find_version.ts";
import { DatasetTags, HELD_OUT } from "../../test/datasets.ts";
import { uploadDataset } from "../../test/datasets/upload.ts";
import { parseArguments } from "../arguments.ts";
import {
  createFileReader,
  parseColumns,
  reportLeftOut,
  requireFormat,
  requireTable,
} from "../batch.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { renderTable } from "../report/terminal_form.ts";

/** Datasets that are listed. */
const MOST_LISTED = 1_000;

export const datasets: Command = {
  summary: "list, write, read or delete datasets",
  help: `assay-eval datasets
assay-eval datasets put NAME FILE [--format FORMAT] [--column FIELD=COLUMN]
assay-eval datasets get NAME[@VERSION]
assay-eval datasets tag NAME [TAG…]
assay-eval datasets delete NAME[@VERSION]

Without an action, lists the datasets with their latest versions.

  put      writes FILE as a version of the dataset, and makes it the latest. A
           version is a digest of its content: writing the same content again
           changes nothing. FILE is what "assay-eval run" takes, and so are
           --format and --column; "-" reads standard input
  get      prints the scenarios, one per line; of the latest version unless
           VERSION, or its first characters, is given
  tag      gives the dataset exactly these tags. Nothing of a dataset with the tag
           ${HELD_OUT} is exported as training data
  delete   deletes a version, or the whole dataset. Runs of it stay as they are

Example:
  assay-eval datasets put support support.jsonl
  assay-eval run --dataset support --endpoint http://localhost:11434 --model llama3.2
`,

  execute([action, ...rest], context) {
    switch (action) {
      case undefined:
        return list(context);
      case "put":
        return put(rest, context);
      case "get":
        return get(rest, context);
      case "tag":
        return tag(rest, context);
      case "delete":
        return remove(rest, context);
      default:
        throw new UsageError(`unknown action "${action}": it must be put, get, tag or delete`);
    }
  },
};

async function list(context: CliContext): Promise<number> {
  await using reader = await context.openReader();
  const found = await reader.listDatasets({ limit: MOST_LISTED });
  const rows = found.map(({ name, version, versions, scenarios, turns, updatedAt, tags }) => [
    name,
    version,
    String(versions),
    String(scenarios),
    String(turns),
    new Date(updatedAt).toISOString().slice(0, 16).replace("T", " "),
    tags.join(", "),
  ]);
  const names = ["dataset", "latest version", "versions", "scenarios", "turns", "updated", "tags"];
  context.out.write(rows.length === 0 ? "no datasets found\n" : renderTable(names, rows));
  return EXIT.passed;
}

async function put(args: string[], context: CliContext): Promise<number> {
  const { values, positionals: [name = "", path = ""] } = parseArguments(args, {
    options: { format: { type: "string" }, column: { type: "string", multiple: true } } as const,
    names: ["NAME", "FILE"],
  });
  const checked = DatasetName.safeParse(name);
  if (!checked.success) {
    throw new UsageError(`cannot use the name "${name}": it ${checked.error.issues[0]!.message}`);
  }
  const format = values.format === undefined ? undefined : requireFormat(values.format);
  const columns = parseColumns(values.column ?? []);
  if (format) requireTable(format.name, values.column ?? []);
  const pieces = context.readPieces(path);
  await using store = await context.openStore();
  using checks = createContentChecks();
  const { saved, leftOut } = await uploadDataset({ store, checks }, name, {
    pieces,
    format,
    columns,
    name: path,
    readFile: createFileReader(path, context),
  });
  reportLeftOut(leftOut, context);
  const { version, scenarios, turns, created } = saved;
  const size = `${counted(scenarios, "scenario")}, ${counted(turns, "turn")}`;
  const what = created ? "" : ", which is stored already";
  context.out.write(`${name}@${version}: ${size}${what}\n`);
  return EXIT.passed;
}

async function get(args: string[], context: CliContext): Promise<number> {
  const { positionals: [name = ""] } = parseArguments(args, {
    options: {},
    names: ["NAME[@VERSION]"],
  });
  await using reader = await context.openReader();
  const version = await requireVersion(reader, parseReference(name));
  for await (const lines of reader.scenarioLines(version)) context.out.write(lines);
  return EXIT.passed;
}

async function tag(args: string[], context: CliContext): Promise<number> {
  const { positionals: [name = "", ...given] } = parseArguments(args, {
    options: {},
    names: ["NAME", "TAG…"],
  });
  const tags = DatasetTags.safeParse(given);
  if (!tags.success) {
    const { path, message } = tags.error.issues[0]!;
    throw new UsageError(
      path.length > 0 ? `cannot use the tag "${given[Number(path[0])]}": it ${message}` : message,
    );
  }
  await using store = await context.openStore({ mustExist: true });
  await requireVersion(store, { name });
  await store.tagDataset(name, tags.data);
  context.out.write(`${name} has ${tags.data.length > 0 ? tags.data.join(", ") : "no tags"}\n`);
  return EXIT.passed;
}

async function remove(args: string[], context: CliContext): Promise<number> {
  const { positionals: [text = ""] } = parseArguments(args, {
    options: {},
    names: ["NAME[@VERSION]"],
  });
  const reference = parseReference(text);
  await using store = await context.openStore({ mustExist: true });
  const { name, version } = await requireVersion(store, reference);
  const wanted = reference.version === undefined ? undefined : version;
  await store.deleteDataset(name, wanted);
  context.out.write(`deleted ${wanted === undefined ? name : `${name}@${version}`}\n`);
  return EXIT.passed;
}

/** `support`, or `support@3f2a…`. Throws `UsageError`. */
export function parseReference(text: string): DatasetReference {
  const result = DatasetReference.safeParse(text);
  if (result.success) return result.data;
  throw new UsageError(`cannot use "${text}": it ${result.error.issues[0]!.message}`);
}
