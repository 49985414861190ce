import { z } from "zod";
import { streamPieces } from "../../shared/http/body/json_stream.ts";
import { readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { ScoringPorts } from "../assess/scoring_ports.ts";
import { describeScores } from "../assess/scores/scorers.ts";
import { compareStored } from "../compare/compare_stored.ts";
import { readGradedAgreement } from "../grades/run_agreement.ts";
import { Detail } from "../results/detail.ts";
import { splitNoise } from "../noise/noise.ts";
import type { RunReader } from "../store/store.ts";
import { whileKept } from "../store/turns/whole_reader.ts";
import { readSides } from "../export/text/compared_sides.ts";
import { readDetails } from "../export/text/comparison_details.ts";
import { exportFormats } from "../export/mod.ts";
import { exportSource } from "../export/source.ts";
import { requireRun } from "../store/runs/require_run.ts";

const Query = z.object({
  format: z.enum(exportFormats.map(({ name }) => name)).default("json"),
  threshold: z.coerce.number().min(0).max(1).optional(),
  /** A run to compare with, for the formats that show it. */
  baseline: z.string().optional(),
  decide_by: z.string().min(1).optional(),
  detail: Detail,
  /** Whether to add where the noise comes from, for the formats that show it. */
  noise: z.stringbool().default(false),
  /** What a row of CSV or a line of JSONL is. */
  rows: z.enum(["turns", "scores"]).default("turns"),
  /** Whether a CSV file begins with a byte order mark, for spreadsheets. */
  bom: z.stringbool().default(true),
});

/** `GET /runs/:id/export`: a run that has ended, as a file. */
export function createExportRoute(
  { store, scoring }: { store: RunReader; scoring: ScoringPorts },
): Handler {
  return async (_request, { params, url }) => {
    const query = readQuery(url, Query);
    const { format: name, threshold, baseline, decide_by: decideBy, noise, rows, bom } = query;
    const format = exportFormats.find((format) => format.name === name)!;
    const run = await requireRun(store, params.id ?? "");
    const source = exportSource(store, { run, threshold });
    source.hasBom = bom;
    source.rows = rows;
    source.detail = query.detail;
    if (baseline !== undefined) {
      const ids = { baseline, candidate: run.id };
      const result = await compareStored(store, ids, { decideBy });
      source.comparison = {
        baseline,
        result,
        sides: () => readSides(store, { ids, moved: result.moved }),
        details: () => readDetails(store, { result, ids }),
      };
    }
    source.agreement = await readGradedAgreement(store, run);
    source.scores = describeScores(scoring);
    if (noise) source.noise = await splitNoise(run.id, source.reader.turns(run.id));
    return streamPieces(whileKept(store, run.id, format.write(source)), {
      "content-type": format.contentType,
      "content-disposition": `attachment; filename="assay-${run.id}.${format.extension}"`,
      "x-content-type-options": "nosniff", // other people's text, never a page of ours
    });
  };
}
