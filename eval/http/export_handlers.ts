import { z } from "zod";
import { conflict } from "../../shared/service/errors.ts";
import { streamPieces } from "../../shared/http/answer.ts";
import { type BodyLimits, readJson, readQuery } from "../../shared/http/body.ts";
import type { Handler } from "../../shared/http/router.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import { describeScores } from "../score/scorers.ts";
import { requireJudge } from "../figures/judge_preference.ts";
import type { Comparer } from "../figures/compare_stored.ts";
import { readAgreementIfGraded } from "../figures/rater_agreement.ts";
import type { RunReader } from "../store/store.ts";
import { exportFormats } from "../report/export_formats.ts";
import { comparisonSource, type ExportFormat, exportSource } from "../report/format.ts";
import { exportTraining, leftOutText } from "../report/training/export_training.ts";
import { isPaired, trainingForms } from "../report/training/forms.ts";
import { readLeaksIfChecked } from "../figures/run_leaks.ts";
import type { RunRecord, StoredRun } from "../store/run_record.ts";
import { AgreementLabel } from "../test/interaction_result.ts";
import { findNewFailures } from "../figures/scenario_passes.ts";
import { requireRun } from "../store/require_run.ts";
import {
  bom,
  decide_by,
  described,
  detail,
  flag,
  min_difference,
  selected,
  selectionOf,
  Share,
} from "./route_parts.ts";

export const FORMATS = exportFormats.map(({ name }) => name);

/** Each run of the batch with each other one is compared by the judge, if it is asked. */
const MOST_RUNS = 20;

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
  new_failures: flag(
    false,
    "Counts scenarios as failures that always passed in the baseline and pass in no attempt now.",
  ),
  required: flag(false, "Counts a run as failed that has nothing in common with its baseline."),
  agreement: AgreementLabel.optional().meta({
    description: "Markdown and text list the lowest replies of this label.",
  }),
  detail,
  rows: described(
    z.enum(["turns", "scores"]).default("turns"),
    "What a row of CSV and a line of JSONL is; `scores` have their averages.",
  ),
  bom,
});

const TRAINING_FORMS = trainingForms.map(({ name }) => name);

/** The body of `POST /runs/export`. */
export const TrainingExport = z.strictObject({
  run_ids: z.array(z.string().min(1)).min(1).max(MOST_RUNS).meta({
    description: "Runs, or groups, that have ended.",
  }),
  format: z.enum(TRAINING_FORMS).meta({ description: "What the file is for." }),
  judge: z.boolean().default(false).meta({
    description: "For `dpo`: also asks the judge which replies of each two runs are better.",
  }),
}).superRefine(({ format, judge }, { addIssue }) => {
  if (!judge || isPaired(format)) return;
  addIssue({ code: "custom", path: ["judge"], message: "is for dpo and dpo-openai" });
}).meta({ id: "TrainingExport" });

/** The headers of its answer. */
export const TrainingHeaders = z.object({
  "content-disposition": z.string(),
  "x-training-rows": z.string().meta({ description: "How many lines it has." }),
  "x-training-left-out": z.string().meta({
    description: "Turns that are not in it although they could be, with the reasons.",
  }),
});

/** `POST /runs/export`: replies of runs as training data. */
export function createTrainingExport(
  { store, scoring, bodyLimits }: {
    store: RunReader;
    scoring: Pick<ScoringPorts, "judge">;
    bodyLimits: BodyLimits;
  },
): Handler {
  return async (request) => {
    const body = await readJson(request, TrainingExport, bodyLimits);
    const form = trainingForms.find(({ name }) => name === body.format)!;
    const judge = body.judge ? requireJudge(scoring.judge) : undefined;
    const runs: StoredRun[] = [];
    for (const id of new Set(body.run_ids)) {
      const group = await store.groupRuns(id);
      const ids = group.length > 0 ? group.map(({ id }) => id) : [id];
      for (const id of ids) runs.push(await requireRun(store, id));
    }
    const { lines, leftOut } = await exportTraining(store, {
      runs,
      form,
      judge,
      signal: request.signal,
    });
    const name = runs.length === 1 ? runs[0]!.id : "training";
    return streamPieces(lines, {
      ...fileHeaders(`assay-${name}.${form.name}.jsonl`, "application/jsonl"),
      "x-training-rows": String(lines.length),
      "x-training-left-out": leftOutText(leftOut),
    });
  };
}

export const ComparisonExportQuery = z.object({
  ...selected,
  format,
  threshold: Share.optional().meta({ description: "Of the turns in JUnit XML." }),
  decide_by,
  min_difference,
  detail,
  bom,
});

/** `GET /runs/:id/export`: a run that has ended, as a file. */
export function createRunExport(
  { store, comparer, scoring }: { store: RunReader; comparer: Comparer; scoring: ScoringPorts },
): Handler {
  return async (_request, { params, url }) => {
    const query = readQuery(url, RunExportQuery);
    const { format: name, threshold, baseline, decide_by: decideBy, rows, bom } = query;
    const format = exportFormats.find((format) => format.name === name)!;
    const run = await requireRun(store, params.id ?? "");
    // Formats that state their counts first read it twice, and must find the same both times.
    if (name !== "text") requireEnded(run);
    const source = exportSource(store, { run, threshold });
    source.label = query.agreement;
    source.hasBom = bom;
    source.rows = rows;
    source.detail = query.detail;
    const scores = describeScores(scoring);
    if (baseline !== undefined) {
      const before = await requireRun(store, baseline);
      const comparison = await comparer.compare({ runs: [before.id, run.id] }, {
        decideBy,
        minDifference: query.min_difference,
      });
      const runs = { baseline: before, candidate: run, threshold: source.threshold };
      source.comparison = {
        ...comparisonSource(store, { comparison, threshold, scores }),
        isRequired: query.required,
        newFailures: query.new_failures ? await findNewFailures(store, runs) : undefined,
      };
    }
    source.agreement = await readAgreementIfGraded(store, run);
    source.leaks = await readLeaksIfChecked(store, run);
    source.scores = scores;
    return sendFile(format.write(source), { name: run.id, format });
  };
}

/** `GET /compare/export`: runs that have ended, beside each other. */
export function createComparisonExport(
  { comparer, store, scoring }: { comparer: Comparer; store: RunReader; scoring: ScoringPorts },
): Handler {
  return async (_request, { url }) => {
    const query = readQuery(url, ComparisonExportQuery);
    const { format: name, decide_by: decideBy, detail, bom } = query;
    const selection = selectionOf(query);
    const runs = await comparer.runs(selection);
    const format = exportFormats.find((format) => format.name === name)!;
    runs.forEach(requireEnded);
    const minDifference = query.min_difference;
    const comparison = await comparer.compare(selection, { decideBy, minDifference });
    const source = comparisonSource(store, {
      comparison,
      threshold: query.threshold,
      scores: describeScores(scoring),
    });
    return sendFile(format.writeComparison({ ...source, hasBom: bom, detail }), {
      name: comparison.group_id ?? "comparison",
      format,
    });
  };
}

function requireEnded({ id, status }: RunRecord): void {
  if (status !== "running") return;
  throw conflict(`cannot export run ${id}: it is not finished; wait for its end, or cancel it`);
}

function sendFile(
  pieces: AsyncIterable<string>,
  { name, format: { contentType, extension } }: { name: string; format: ExportFormat },
): Response {
  return streamPieces(pieces, fileHeaders(`assay-${name}.${extension}`, contentType));
}

function fileHeaders(name: string, contentType: string) {
  return {
    "content-type": contentType,
    "content-disposition": `attachment; filename="${name}"`,
    "x-content-type-options": "nosniff", // text of others must not be shown as a page
  };
}
