import { counted } from "../../../shared/service/text.ts";
import type { DatasetList, DatasetVersionList, WrittenDataset } from "../../http/dataset_routes.ts";
import { renderTable } from "../../report/text/terminal_form.ts";
import { detectFormat } from "../../test/datasets/detect.ts";
import { HELD_OUT } from "../../test/datasets.ts";
import { DatasetReference } from "../../test/datasets/find_version.ts";
import { type ImportedScenario, importScenarios } from "../../test/datasets/import_scenarios.ts";
import { ImportError } from "../../test/formats/format.ts";
import { readBeginning } from "../../test/formats/lines.ts";
import { connect, Refused } from "../api.ts";
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
  await using api = await connect(context, { access: "read" });
  const query = { limit: MOST_LISTED };
  const { datasets: found } = await api.json<DatasetList>("GET /datasets", { query });
  const rows = found.map(({ name, version, versions, scenarios, turns, updated_at, tags }) => [
    name,
    version,
    String(versions),
    String(scenarios),
    String(turns),
    updated_at.slice(0, 16).replace("T", " "),
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
  const { column: mapped = [] } = values;
  const columns = parseColumns(mapped);
  const { beginning, all } = await readBeginning(context.readPieces(path));
  const format = values.format === undefined
    ? detectFormat(beginning, { name: path, columns })
    : requireFormat(values.format);
  requireTable(format.name, mapped);
  const file = format.name === "promptfoo"
    ? await readPromptfoo(path, all, context)
    : { format: format.name, body: all, explain: (error: unknown) => error };
  await using api = await connect(context, { access: "create" });
  const ofColumns = mapped.map((text) => `column.${text}`.split(/=(.*)/s).slice(0, 2));
  const { version, scenarios, turns, created, left_out } = await api.json<WrittenDataset>(
    `PUT ${datasetPath(name)}`,
    {
      query: { format: file.format, ...Object.fromEntries(ofColumns) },
      body: file.body,
      headers: { "content-type": "application/jsonl" },
    },
  ).catch((error) => {
    throw file.explain(error);
  });
  reportLeftOut(left_out, context);
  const size = `${counted(scenarios, "scenario")}, ${counted(turns, "turn")}`;
  const what = created ? "" : ", which is stored already";
  context.out.write(`${name}@${version}: ${size}${what}\n`);
  return EXIT.passed;
}

/** Its configuration may name other files, which the service does not read. */
async function readPromptfoo(path: string, pieces: AsyncIterable<string>, context: CliContext) {
  const format = requireFormat("promptfoo");
  const file = importScenarios(pieces, { format, readFile: createFileReader(path, context) });
  const places: Omit<ImportedScenario, "scenario">[] = [];
  const unusable = (reason: string) =>
    new UsageError(`cannot use the file (read as promptfoo): ${reason}`);
  let body = "";
  try {
    for await (const { scenario, ...place } of file.scenarios) {
      places.push(place);
      body += `${JSON.stringify(scenario)}\n`;
    }
  } catch (error) {
    throw error instanceof ImportError ? unusable(error.message) : error;
  }
  reportLeftOut(file.leftOut(), context);
  /** The service names lines of what it got. */
  function explain(error: unknown): unknown {
    const [fault] = error instanceof Refused ? error.errors : [];
    const place = places[Number(/^line (\d+)$/.exec(fault?.path ?? "")?.[1]) - 1];
    if (!place) return error;
    const reason = place.file === undefined ? fault!.message : `${place.file}: ${fault!.message}`;
    return unusable(new ImportError(place.line, reason).message);
  }
  return { format: "jsonl", body, explain };
}

async function get(args: string[], context: CliContext): Promise<number> {
  const { positionals: [name = ""] } = parseArguments(args, {
    options: {},
    names: ["NAME[@VERSION]"],
  });
  const { path, query } = datasetRoute(name);
  await using api = await connect(context, { access: "read" });
  const lines = api.pieces(`GET ${path}`, { query: { ...query, format: "jsonl" } });
  for await (const text of lines) context.out.write(text);
  return EXIT.passed;
}

async function tag(args: string[], context: CliContext): Promise<number> {
  const { positionals: [name = "", ...tags] } = parseArguments(args, {
    options: {},
    names: ["NAME", "TAG…"],
  });
  await using api = await connect(context, { access: "write" });
  await api.call(`PATCH ${datasetPath(name)}`, { body: { tags } });
  context.out.write(`${name} has ${tags.length > 0 ? tags.join(", ") : "no tags"}\n`);
  return EXIT.passed;
}

async function remove(args: string[], context: CliContext): Promise<number> {
  const { positionals: [text = ""] } = parseArguments(args, {
    options: {},
    names: ["NAME[@VERSION]"],
  });
  const { path, query } = datasetRoute(text);
  await using api = await connect(context, { access: "write" });
  const { versions } = await api.json<DatasetVersionList>(`GET ${path}/versions`);
  await api.call(`DELETE ${path}`, { query });
  const { version: beginning } = query;
  const found = beginning && versions.find(({ version }) => version.startsWith(beginning));
  context.out.write(`deleted ${found ? `${found.name}@${found.version}` : text}\n`);
  return EXIT.passed;
}

const datasetPath = (name: string) => `/datasets/${encodeURIComponent(name)}`;

/** The path of a dataset, and the version of `support@3f2a…` as a query. Throws `UsageError`. */
export function datasetRoute(text: string) {
  const result = DatasetReference.safeParse(text);
  if (!result.success) {
    throw new UsageError(`cannot use "${text}": it ${result.error.issues[0]!.message}`);
  }
  const { name, version } = result.data;
  return { path: datasetPath(name), query: { version } };
}
