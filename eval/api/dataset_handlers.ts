import { z } from "zod";
import { invalidParameter } from "../../shared/errors.ts";
import { readBodyPieces } from "../../shared/http/body/body_text.ts";
import { streamPieces } from "../../shared/http/body/json_stream.ts";
import { readParams, readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { ScoringPorts } from "../assess/scoring_ports.ts";
import type { EvalConfig } from "../config.ts";
import type { DatasetStore, VersionRecord } from "../store/datasets/datasets.ts";
import { COLUMN_FIELDS, mapColumn } from "../datasets/columns.ts";
import { findFormat, FORMATS } from "../datasets/detect.ts";
import { DatasetName, requireVersion, VersionBeginning } from "../datasets/find_version.ts";
import type { ColumnMapping } from "../datasets/formats/format.ts";
import { uploadDataset } from "../datasets/upload.ts";

/** Of a dataset as it is sent. It is not collected, so it may be larger than other bodies. */
const MOST_BYTES = 256 * 1024 * 1024;

const VERSIONS_SHOWN = 1_000;

export interface DatasetHandlerDeps {
  store: DatasetStore;
  scoring: Pick<ScoringPorts, "checks">;
  config: Pick<EvalConfig, "MAX_BODY_BYTES" | "BODY_TIMEOUT_MS">;
}

const Path = z.object({ name: DatasetName });
const ListQuery = z.object({
  cursor: DatasetName.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});
const ReadQuery = z.object({
  version: VersionBeginning.optional(),
  format: z.enum(["json", "jsonl"]).default("json"),
});
const DeleteQuery = z.object({ version: VersionBeginning.optional() });

/** The handlers of the routes about datasets. */
export function createDatasetHandlers({ store, config, scoring }: DatasetHandlerDeps) {
  return {
    put: async (request, { params, url }) => {
      const { name } = readParams(params, Path);
      const { saved, leftOut } = await uploadDataset({ store, checks: scoring.checks }, name, {
        pieces: readBodyPieces(request, {
          maxBytes: MOST_BYTES,
          timeoutMs: config.BODY_TIMEOUT_MS,
          setting: "of a dataset",
        }),
        format: readFormat(url),
        columns: readColumns(url),
        name: nameByType(request.headers.get("content-type")),
        mostWhole: config.MAX_BODY_BYTES,
      });
      const { created, ...version } = saved;
      return Response.json({ ...view(version), created, left_out: leftOut }, {
        status: created ? 201 : 200,
        headers: { location: `/datasets/${name}?version=${saved.version}` },
      });
    },

    list: async (_request, { url }) => {
      const { cursor, limit } = readQuery(url, ListQuery);
      const found = await store.listDatasets({ after: cursor, limit: limit + 1 });
      const page = found.slice(0, limit);
      return Response.json({
        datasets: page.map(({ versions, updatedAt, ...latest }) => ({
          ...view(latest),
          versions,
          updated_at: new Date(updatedAt).toISOString(),
        })),
        next_cursor: found.length > limit ? page.at(-1)!.name : null,
      });
    },

    show: async (_request, { params, url }) => {
      const { name } = readParams(params, Path);
      const { version: beginning, format } = readQuery(url, ReadQuery);
      const version = await requireVersion(store, { name, version: beginning });
      const lines = store.scenarioLines(version);
      if (format === "json") return streamPieces(jsonPieces(version, lines));
      return streamPieces(lines, { "content-type": "application/jsonl" });
    },

    versions: async (_request, { params }) => {
      const { name } = readParams(params, Path);
      await requireVersion(store, { name });
      const versions = await store.datasetVersions(name, VERSIONS_SHOWN);
      return Response.json({ versions: versions.map(view) });
    },

    remove: async (_request, { params, url }) => {
      const { name } = readParams(params, Path);
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
  for (const [parameter, column] of url.searchParams) {
    if (!parameter.startsWith(COLUMN)) continue;
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
