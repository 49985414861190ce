import { z } from "zod";
import { type ApiDescription, jsonAnswer, problems } from "../../shared/ops/api_description.ts";
import { StoredComparison } from "../compare/compare_stored.ts";
import { exportFormats } from "../export/mod.ts";
import { RUN_STATUSES } from "../store/store.ts";

const Status = z.enum(RUN_STATUSES);

const Run = z.looseObject({
  run_id: z.string(),
  parent_id: z.string().nullable(),
  status: Status,
  detail: z.string().nullable(),
  test_name: z.string(),
  model_id: z.string(),
  endpoint: z.string(),
  attempts: z.int(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  progress: z.object({
    done: z.int(),
    failed: z.int(),
    missing: z.int(),
    total: z.int(),
    mean: z.number().nullable(),
    eta_ms: z.number().nullable(),
  }),
}).meta({ id: "Run" });

const path = z.object({ id: z.string().meta({ description: "The run." }) });
const NOT_FOUND = problems({ 404: "`not_found`: there is no such run" });
const CONFLICT = problems({ 409: "`conflict`: the run is not in a state for that" });
const BAD_QUERY = problems({ 400: "`invalid_request`: a parameter does not fit" });
const events = { "text/event-stream": { schema: z.string() } };

/** The routes about stored runs. */
export const runsApi: ApiDescription["routes"] = {
  "GET /runs": {
    summary: "The runs, newest first",
    requestParams: {
      query: z.object({
        test_name: z.string().optional(),
        model_id: z.string().optional(),
        status: Status.optional(),
        cursor: z.string().optional(),
        limit: z.int().min(1).max(200).optional(),
      }),
    },
    responses: {
      200: jsonAnswer(
        "A page of them.",
        z.object({ runs: z.array(Run), next_cursor: z.string().nullable() }),
      ),
      ...BAD_QUERY,
    },
  },
  "GET /runs/compare": {
    summary: "Is one run better than another?",
    requestParams: {
      query: z.object({
        baseline: z.string(),
        candidate: z.string(),
        scores: z.string().optional(),
      }),
    },
    responses: {
      200: jsonAnswer("Both means, the difference, its interval and a verdict.", StoredComparison),
      ...BAD_QUERY,
      ...NOT_FOUND,
      ...CONFLICT,
    },
  },
  "GET /runs/:id": {
    summary: "One run, with its result when there is one",
    requestParams: { path },
    responses: { 200: jsonAnswer("The run.", Run), ...NOT_FOUND },
  },
  "GET /runs/:id/export": {
    summary: "One run as a file",
    requestParams: {
      path,
      query: z.object({
        format: z.enum(exportFormats.map(({ name }) => name)).optional(),
        threshold: z.number().min(0).max(1).optional(),
        baseline: z.string().optional(),
      }),
    },
    responses: {
      200: {
        description: "The file.",
        content: Object.fromEntries(
          exportFormats.map(({ contentType }) => [
            contentType.split(";")[0]!,
            { schema: z.string() },
          ]),
        ),
      },
      ...BAD_QUERY,
      ...NOT_FOUND,
      ...CONFLICT,
    },
  },
  "GET /runs/:id/events": {
    summary: "What happens in a run, as server-sent events",
    requestParams: { path, header: z.object({ "last-event-id": z.string().optional() }) },
    responses: {
      200: { description: "`progress`, `turn` and `result` events.", content: events },
      204: { description: "Everything was sent already: do not come back." },
      ...NOT_FOUND,
    },
  },
  "POST /runs/:id/cancel": {
    summary: "End a run and keep what is finished",
    requestParams: { path },
    responses: {
      200: jsonAnswer("It is cancelled.", z.object({ run_id: z.string(), status: Status })),
      ...NOT_FOUND,
      ...CONFLICT,
    },
  },
  "POST /runs/:id/retry": {
    summary: "Ask again what failed, as a new run",
    requestParams: {
      path,
      header: z.object({ "idempotency-key": z.string().max(255).optional() }),
    },
    responses: {
      202: jsonAnswer(
        "The new run.",
        z.object({ run_id: z.string(), parent_id: z.string(), status: Status }),
      ),
      ...NOT_FOUND,
      ...CONFLICT,
      ...problems({ 422: "`idempotency_key_reused`: the key came with another body before" }),
    },
  },
  "DELETE /runs/:id": {
    summary: "Delete a run",
    requestParams: { path },
    responses: { 204: { description: "It is gone." }, ...NOT_FOUND, ...CONFLICT },
  },
};
