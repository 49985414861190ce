import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import { DatasetTags } from "../test/datasets.ts";
import { Scenario } from "../test/scenario.ts";
import { COLUMN_FIELDS, findFormat, FORMATS, mapColumn } from "../test/datasets/detect.ts";
import { BAD_QUERY, described, flag, paging, WRITE_PROBLEMS } from "./route_parts.ts";
import { invalidParameter } from "../../shared/service/errors.ts";
import { requireKnownParameters } from "../../shared/service/field_errors.ts";
import {
  readBodyPieces,
  readJson,
  readParams,
  readQuery,
  UPLOAD_TIMEOUT_MS,
} from "../../shared/http/body.ts";
import { streamPieces } from "../../shared/http/answer.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import type { EvalConfig } from "../config.ts";
import type { DatasetStore, VersionRecord } from "../store/datasets.ts";
import { DatasetName, requireVersion, VersionBeginning } from "../test/datasets/find_version.ts";
import type { ColumnMapping } from "../test/formats/format.ts";
import { previewDataset, uploadDataset } from "../test/datasets/upload.ts";

export const DatasetVersion = z.object({
  name: z.string(),
  version: z.string().meta({ description: "A digest of its content." }),
  scenarios: z.int(),
  turns: z.int(),
  bytes: z.int().meta({ description: "As JSON, one scenario per line." }),
  created_at: z.string(),
}).meta({ id: "DatasetVersion" });

export type DatasetVersion = z.infer<typeof DatasetVersion>;

/** A dataset, as lists show it: its latest version. */
export const Dataset = DatasetVersion.extend({
  versions: z.int(),
  updated_at: z.string(),
  tags: z.array(z.string()),
}).meta({ id: "Dataset" });
export type Dataset = z.infer<typeof Dataset>;

const DatasetList = z.object({
  datasets: z.array(Dataset),
  next_cursor: z.string().nullable(),
}).meta({ id: "DatasetList" });
export type DatasetList = z.infer<typeof DatasetList>;

const DatasetVersionList = z.object({
  tags: z.array(z.string()).meta({ description: "Of the dataset." }),
  versions: z.array(DatasetVersion),
}).meta({ id: "DatasetVersionList" });
export type DatasetVersionList = z.infer<typeof DatasetVersionList>;

const DatasetChange = z.strictObject({
  tags: DatasetTags.meta({
    description: "All of them. Nothing of a dataset with `held-out` is exported for training.",
  }),
}).meta({ id: "DatasetChange" });

const left_out = z.array(
  z.object({ what: z.string(), count: z.int(), line: z.int() }).meta({
    id: "NotTakenOver",
    description: "What has no counterpart here, how often, and where it was first met.",
  }),
);

const WrittenDataset = DatasetVersion.extend({
  created: z.boolean().meta({ description: "`false`: the version was there before." }),
  left_out,
}).meta({ id: "WrittenDataset" });
export type WrittenDataset = z.infer<typeof WrittenDataset>;

const DatasetPreview = z.object({
  format: z.string().meta({ description: "What the file was read as." }),
  scenarios: z.int(),
  turns: z.int(),
  left_out,
  test_batch: z.array(Scenario).meta({ description: "The first 20 scenarios." }),
}).meta({ id: "DatasetPreview" });
export type DatasetPreview = z.infer<typeof DatasetPreview>;

const DatasetContent = z.object({
  name: z.string(),
  version: z.string(),
  test_batch: z.array(Scenario),
}).meta({ id: "DatasetContent" });

const BatchFile = z.union([
  z.array(Scenario),
  Scenario,
  z.object({ test_batch: z.union([z.array(Scenario), Scenario]) }),
]);

const path = z.object({ name: DatasetName.meta({ description: "The dataset." }) });
const ListQuery = z.object(paging(DatasetName, { usual: 100, most: 1_000 }));
const version = VersionBeginning.optional().meta({
  description: "A version, or its first characters.",
});
const DeleteQuery = z.object({ version });
const ReadQuery = z.object({
  version,
  format: described(z.enum(["json", "jsonl"]).default("json"), "`json` if unset."),
});
const column = z.string().optional().meta({
  description: "Of a table: the column that holds the field. `column.metadata.NAME` is a label's.",
});
const LINES = z.string().meta({ description: "One scenario per line." });
const EXAMPLE = { id: "greeting", interactions: [{ id: "1", user_message: "Hello!" }] };
const UploadQuery = z.object({
  format: z.enum(FORMATS.map(({ name }) => name)).optional().meta({
    description: "Found out from the file if it is unset.",
  }),
  replies: flag(
    false,
    "`true`: what a model said in the file is kept as the reply that is scored.",
  ),
  "column.user_message": column,
  "column.reference_reply": column,
  "column.system_prompt": column,
  "column.scenario_id": column,
}).catchall(column); // column.metadata.NAME
const UPLOAD_FILES = {
  "application/jsonl": { schema: LINES, example: JSON.stringify(EXAMPLE) },
  "application/json": { schema: BatchFile, example: [EXAMPLE] },
  "text/csv": {
    schema: z.string(),
    example: "user_message,reference_reply\nHello!,Hello\n",
  },
  "application/yaml": { schema: z.string(), example: "tests: [{ vars: { text: Hello! } }]" },
};
const UPLOAD_PROBLEMS = {
  400: "`invalid_request`: the file cannot be used, and `errors` names its line; or a " +
    "parameter does not fit",
  415: "`unsupported_media_type`: the content-encoding is neither gzip nor identity",
};
const NOT_FOUND = { 404: "`not_found`: there is no such dataset, or no such version" };

export function createDatasetRoutes(deps: DatasetHandlerDeps): Route[] {
  const handlers = createDatasetHandlers(deps);
  const written = (description: string) =>
    jsonAnswer(description, WrittenDataset, { location: z.string() });
  return [
    {
      method: "GET",
      path: "/datasets",
      summary: "The datasets by name, each with its latest version",
      params: { query: ListQuery },
      answers: { 200: jsonAnswer("A page of them.", DatasetList) },
      problems: BAD_QUERY,
      handler: handlers.list,
    },
    {
      method: "PUT",
      path: "/datasets/:name",
      summary: "Write a version of a dataset, from a file of any format",
      params: {
        path,
        query: UploadQuery,
      },
      files: UPLOAD_FILES,
      answers: {
        200: written("The version was there before; it is the latest now."),
        201: written("A new version, which is the latest now."),
      },
      problems: { ...UPLOAD_PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.put,
    },
    {
      method: "POST",
      path: "/datasets",
      summary: "What a file would become as a dataset; nothing is written",
      params: { query: UploadQuery },
      files: UPLOAD_FILES,
      answers: { 200: jsonAnswer("Its first scenarios.", DatasetPreview) },
      problems: UPLOAD_PROBLEMS,
      handler: handlers.preview,
    },
    {
      method: "GET",
      path: "/datasets/:name",
      summary: "The scenarios of a version, the latest unless given",
      params: { path, query: ReadQuery },
      answers: {
        200: {
          ...jsonAnswer("The scenarios.", DatasetContent),
          content: {
            "application/json": { schema: DatasetContent },
            "application/jsonl": { schema: LINES },
          },
        },
      },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: handlers.show,
    },
    {
      method: "GET",
      path: "/datasets/:name/versions",
      summary: "The versions of a dataset, newest first",
      params: { path },
      answers: { 200: jsonAnswer("The newest 1,000.", DatasetVersionList) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: handlers.versions,
    },
    {
      method: "PATCH",
      path: "/datasets/:name",
      summary: "Give a dataset tags",
      params: { path },
      body: { schema: DatasetChange, example: { tags: ["held-out"] } },
      answers: { 200: jsonAnswer("Its tags.", DatasetChange) },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...WRITE_PROBLEMS },
      handler: handlers.change,
    },
    {
      method: "DELETE",
      path: "/datasets/:name",
      summary: "Delete a version of a dataset, or all of them",
      params: { path, query: DeleteQuery },
      answers: { 204: { description: "It is deleted. Runs of it stay as they are." } },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...WRITE_PROBLEMS },
      handler: handlers.remove,
    },
  ];
}

/** The largest upload. It is stored as it arrives, so it may be larger than other bodies. */
const MOST_BYTES = 256 * 1024 * 1024;

const VERSIONS_SHOWN = 1_000;

interface DatasetHandlerDeps {
  store: DatasetStore;
  scoring: Pick<ScoringPorts, "checks">;
  config: Pick<EvalConfig, "MAX_BODY_BYTES">;
}

function createDatasetHandlers(
  { store, config: { MAX_BODY_BYTES: maxBytes }, scoring: { checks } }: DatasetHandlerDeps,
) {
  const readUpload = (request: Request, url: URL) => ({
    pieces: readBodyPieces(request, {
      maxBytes: MOST_BYTES,
      timeoutMs: UPLOAD_TIMEOUT_MS,
      setting: "of a dataset",
    }),
    format: readFormat(url),
    hasReplies: readQuery(url, z.object({ replies: flag(false, "") })).replies,
    columns: readColumns(url),
    name: nameByType(request.headers.get("content-type")),
    mostWhole: maxBytes,
  });
  return {
    put: async (request, { params, url }) => {
      const { name } = readParams(params, path);
      const upload = readUpload(request, url);
      const { saved, leftOut } = await uploadDataset({ store, checks }, name, upload);
      const { created, ...version } = saved;
      return Response.json({ ...view(version), created, left_out: leftOut }, {
        status: created ? 201 : 200,
        headers: { location: `/datasets/${name}?version=${saved.version}` },
      });
    },

    preview: async (request, { url }) =>
      Response.json(await previewDataset(checks, readUpload(request, url))),

    list: async (_request, { url }) => {
      const { cursor, limit } = readQuery(url, ListQuery);
      const found = await store.listDatasets({ after: cursor, limit: limit + 1 });
      const page = found.slice(0, limit);
      return Response.json({
        datasets: page.map(({ versions, updatedAt, tags, ...latest }) => ({
          ...view(latest),
          versions,
          tags,
          updated_at: new Date(updatedAt).toISOString(),
        })),
        next_cursor: found.length > limit ? page.at(-1)!.name : null,
      });
    },

    show: async (_request, { params, url }) => {
      const { name } = readParams(params, path);
      const { version: beginning, format } = readQuery(url, ReadQuery);
      const version = await requireVersion(store, { name, version: beginning });
      const lines = store.scenarioLines(version);
      if (format === "json") return streamPieces(jsonPieces(version, lines));
      return streamPieces(lines, { "content-type": "application/jsonl" });
    },

    versions: async (_request, { params }) => {
      const { name } = readParams(params, path);
      await requireVersion(store, { name });
      const versions = await store.datasetVersions(name, VERSIONS_SHOWN);
      return Response.json({ tags: await store.datasetTags(name), versions: versions.map(view) });
    },

    change: async (request, { params }) => {
      const { name } = readParams(params, path);
      const { tags } = await readJson(request, DatasetChange, { maxBytes });
      await requireVersion(store, { name });
      await store.tagDataset(name, tags);
      return Response.json({ tags });
    },

    remove: async (_request, { params, url }) => {
      const { name } = readParams(params, path);
      const { version: beginning } = readQuery(url, DeleteQuery);
      const { version } = await requireVersion(store, { name, version: beginning });
      await store.deleteDataset(name, beginning === undefined ? undefined : version);
      return new Response(null, { status: 204 });
    },
  } satisfies Record<string, Handler>;
}

function view({ createdAt, ...version }: VersionRecord) {
  return { ...version, created_at: new Date(createdAt).toISOString() };
}

/** The version and its scenarios as one JSON value. */
async function* jsonPieces(version: VersionRecord, lines: AsyncIterable<string>) {
  yield `${JSON.stringify({ name: version.name, version: version.version }).slice(0, -1)},`;
  yield '"test_batch":[';
  let comma = "";
  for await (const text of lines) {
    yield comma + text.trimEnd().replaceAll("\n", ",");
    comma = ",";
  }
  yield "]}";
}

function readFormat(url: URL) {
  const name = url.searchParams.get("format");
  if (name === null) return undefined;
  const format = findFormat(name);
  if (format) return format;
  const names = FORMATS.map(({ name }) => name).join(", ");
  throw invalidParameter("format", `must be one of ${names}`);
}

const COLUMN = "column.";

function readColumns(url: URL): ColumnMapping {
  let columns: ColumnMapping = {};
  const given = [...url.searchParams].filter(([parameter]) => parameter.startsWith(COLUMN));
  requireKnownParameters(url, ["format", "replies", ...given.map(([parameter]) => parameter)]);
  for (const [parameter, column] of given) {
    const mapped = mapColumn(columns, { field: parameter.slice(COLUMN.length), column });
    if (!mapped) throw invalidParameter(parameter, `must be ${COLUMN} and ${COLUMN_FIELDS}`);
    columns = mapped;
  }
  return columns;
}

/** If the beginning of a file fits several formats, its type decides. */
function nameByType(type: string | null): string | undefined {
  const name = type?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (name === "text/csv" || name === "text/tab-separated-values") return "file.csv";
  return /^(?:application|text)\/(?:x-)?yaml$/.test(name) ? "file.yaml" : undefined;
}
