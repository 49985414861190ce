import { z } from "zod";
import { conflict } from "../../shared/errors.ts";
import { streamPieces } from "../../shared/http/body/json_response.ts";
import { readQuery } from "../../shared/http/body/body.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { ScoringPorts } from "../assess/scoring_ports.ts";
import { describeScores } from "../assess/scores/scorers.ts";
import { compareStored } from "../compare/compare_stored.ts";
import { readAgreementIfGraded } from "../grades/agreement.ts";
import { splitNoise } from "../noise/noise.ts";
import type { RunReader } from "../store/store.ts";
import { readDetails, readSides } from "../export/text/compared_sides.ts";
import { exportFormats } from "../export/export_formats.ts";
import { type ExportFormat, exportSource, groupSources } from "../export/format.ts";
import type { Groups } from "../groups/groups.ts";
import { requireRun } from "../store/runs/require_run.ts";
import { bom, decide_by, described, detail, flag, min_difference, Share } from "./route_parts.ts";

export const FORMATS = exportFormats.map(({ name }) => name);

const format = described(z.enum(FORMATS).default("json"), "`json` if unset.");

export const RunExportQuery = z.object({
  format,
  threshold: Share.optional().meta({
    description: "From which `overall` a turn passes in JUnit XML, Markdown and HTML; the run's " +
      "own if unset.",
  }),
  baseline: z.string().optional().meta({
    description: "A run to compare with, in JUnit XML, Markdown and HTML.",
  }),
  decide_by,
  min_difference,
  detail,
  noise: flag(
    false,
    "Adds `results.noise` to JSON, a section to Markdown, and columns to rows of scores.",
  ),
  rows: described(
    z.enum(["turns", "scores"]).default("turns"),
    "What a row of CSV and a line of JSONL is; `scores` have their averages.",
  ),
  bom,
});

export const GroupExportQuery = z.object({ format, decide_by, detail, bom });

/** `GET /runs/:id/export`: a run that has ended, as a file. */
export function createRunExport(
  { store, scoring }: { store: RunReader; scoring: ScoringPorts },
): Handler {
  return async (_request, { params, url }) => {
    const query = readQuery(url, RunExportQuery);
    const { format: name, threshold, baseline, decide_by: decideBy, noise, rows, bom } = query;
    const format = exportFormats.find((format) => format.name === name)!;
    const run = await requireRun(store, params.id ?? "");
    const source = exportSource(store, { run, threshold });
    source.hasBom = bom;
    source.rows = rows;
    source.detail = query.detail;
    if (baseline !== undefined) {
      const ids = { baseline, candidate: run.id };
      const result = await compareStored(store, ids, {
        decideBy,
        minDifference: query.min_difference,
      });
      source.comparison = {
        baseline,
        result,
        sides: () => readSides(store, { ids, moved: result.moved }),
        details: () => readDetails(store, { result, ids }),
      };
    }
    source.agreement = await readAgreementIfGraded(store, run);
    source.scores = describeScores(scoring);
    if (noise) source.noise = await splitNoise(run.id, source.reader.turns(run.id));
    return sendFile(format.write(source), { name: run.id, format });
  };
}

/** `GET /groups/:id/export`: a group whose runs have ended, as a file. */
export function createGroupExport(
  { groups, store }: { groups: Groups; store: RunReader },
): Handler {
  return async (_request, { params, url }) => {
    const { format: name, decide_by: decideBy, detail, bom } = readQuery(url, GroupExportQuery);
    const { id = "" } = params;
    const format = exportFormats.find((format) => format.name === name)!;
    if ((await groups.view(id)).status === "running") {
      throw conflict(
        `cannot export group ${id}: it is not finished; wait for its end, or cancel it`,
      );
    }
    const report = await groups.report(id, { decideBy });
    const runs = () => groupSources(store, report);
    const pieces = format.writeGroup({ report, runs, hasBom: bom, detail });
    return sendFile(pieces, { name: `group-${id}`, format });
  };
}

function sendFile(
  pieces: AsyncIterable<string>,
  { name, format: { contentType, extension } }: { name: string; format: ExportFormat },
): Response {
  return streamPieces(pieces, {
    "content-type": contentType,
    "content-disposition": `attachment; filename="assay-${name}.${extension}"`,
    "x-content-type-options": "nosniff", // text of others must not be shown as a page
  });
}
