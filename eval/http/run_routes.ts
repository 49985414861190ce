import type { Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import { EvaluateAnswer } from "../test/evaluate_response.ts";
import { z } from "zod";
import {
  createRunExport,
  createTrainingExport,
  FORMATS,
  RunExportQuery,
  TrainingExport,
  TrainingHeaders,
} from "./export_handlers.ts";
import type { Comparer } from "../figures/compare_stored.ts";
import { exportFormats } from "../report/export_formats.ts";
import { createRunHandlers, type RunHandlerDeps, RunListQuery, RunQuery } from "./run_handlers.ts";
import { Run } from "../run/view.ts";
import {
  BudgetInput,
  RescoreRequest,
  RetriedRun,
  RunChange,
  RunList,
  RunLocation,
  RunRequest,
  RunState,
  RunWithResult,
} from "./schemas/run_schemas.ts";
import {
  BAD_QUERY,
  CALL_PROBLEMS,
  fileAnswer,
  idempotencyKey,
  runPath,
  WRITE_PROBLEMS,
} from "./route_parts.ts";

const NOT_FOUND = { 404: "`not_found`: there is no such run" };
const CONFLICT = { 409: "`conflict`: the run is not in a state for that" };

export function createRunRoutes(deps: RunHandlerDeps & { comparer: Comparer }): Route[] {
  const handlers = createRunHandlers(deps);
  return [
    {
      method: "GET",
      path: "/runs",
      summary: "The runs, newest first unless sorted otherwise",
      params: { query: RunListQuery },
      answers: {
        200: jsonAnswer("A page of them.", RunList),
      },
      problems: BAD_QUERY,
      handler: handlers.list,
    },
    {
      method: "GET",
      path: "/runs/:id",
      summary: "One run, with its result when there is one",
      index: { text: "one run, and its result when there is one" },
      params: { path: runPath, query: RunQuery },
      answers: { 200: jsonAnswer("The run.", RunWithResult) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: handlers.show,
    },
    {
      method: "GET",
      path: "/runs/:id/export",
      summary: "One run as a file",
      index: { query: `format=${FORMATS.join("|")}` },
      params: { path: runPath, query: RunExportQuery },
      answers: {
        200: fileAnswer(exportFormats, EvaluateAnswer),
      },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...CONFLICT },
      handler: createRunExport(deps),
    },
    {
      method: "POST",
      path: "/runs/export",
      summary: "Replies of runs as training data",
      index: { text: "corrected, passing and failing replies as training data" },
      body: {
        schema: TrainingExport,
        example: { run_ids: ["0198c0de-…"], format: "dpo" },
      },
      answers: {
        200: {
          description: "The file, one row per line.",
          headers: TrainingHeaders,
          content: { "application/jsonl": { schema: z.string() } },
        },
      },
      problems: {
        400: "`invalid_request`: a field does not fit, or no judge is configured",
        ...NOT_FOUND,
        409: "`conflict`: a run has not ended or its dataset is held out, or nothing can be learnt",
      },
      handler: createTrainingExport(deps),
    },
    {
      method: "GET",
      path: "/runs/:id/request",
      summary: "What started a run: a body for POST /evaluate, to run it again or to change it",
      params: { path: runPath },
      answers: {
        200: jsonAnswer(
          "The request; with a dataset, its name and version instead of its scenarios.",
          RunRequest,
        ),
      },
      problems: NOT_FOUND,
      handler: handlers.request,
    },
    {
      method: "POST",
      path: "/runs/:id/cancel",
      summary: "End a run and keep what is finished",
      params: { path: runPath },
      answers: {
        200: jsonAnswer("It is cancelled.", RunState),
      },
      problems: { ...NOT_FOUND, ...CONFLICT, ...WRITE_PROBLEMS },
      handler: handlers.cancel,
    },
    {
      method: "POST",
      path: "/runs/:id/retry",
      summary: "Ask again what failed, as a new run",
      params: { path: runPath, header: idempotencyKey },
      body: { schema: BudgetInput, example: {}, isOptional: true },
      answers: {
        202: jsonAnswer("The new run.", RetriedRun, { location: RunLocation }),
      },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...CONFLICT, ...CALL_PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.retry,
    },
    {
      method: "POST",
      path: "/runs/:id/rescore",
      summary: "Score the replies of a run again, by another rubric, judge or checks",
      params: { path: runPath, header: idempotencyKey },
      body: { schema: RescoreRequest, example: { rubric: "Grade only whether the facts agree." } },
      answers: {
        202: jsonAnswer("The new run.", RetriedRun, { location: RunLocation }),
      },
      problems: {
        400: "`invalid_request`: nothing differs from the run, or the judge does not answer",
        ...NOT_FOUND,
        ...CONFLICT,
        ...CALL_PROBLEMS,
        ...WRITE_PROBLEMS,
      },
      handler: handlers.rescore,
    },
    {
      method: "PATCH",
      path: "/runs/:id",
      summary: "Rename a run, or give it tags",
      params: { path: runPath },
      body: { schema: RunChange, example: { tags: ["main"] } },
      answers: { 200: jsonAnswer("The run.", Run) },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...CONFLICT, ...WRITE_PROBLEMS },
      handler: handlers.change,
    },
    {
      method: "DELETE",
      path: "/runs/:id",
      summary: "Delete a run",
      params: { path: runPath },
      answers: { 204: { description: "It is deleted." } },
      problems: { ...NOT_FOUND, ...CONFLICT, ...WRITE_PROBLEMS },
      handler: handlers.remove,
    },
  ];
}
