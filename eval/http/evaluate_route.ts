import { AppError, conflict, invalidField } from "../../shared/service/errors.ts";
import { streamPieces } from "../../shared/http/answer.ts";
import type { Handler, RequestContext } from "../../shared/http/router.ts";
import { type BodyLimits, checkBody, readJsonValue, readQuery } from "../../shared/http/body.ts";
import { wantsEvents } from "../../shared/http/headers.ts";
import {
  type EvaluateRequest,
  evaluateRequest,
  MAX_TARGETS,
  type NamedTarget,
  requestOf,
  severalModels,
} from "../test/evaluate_request.ts";
import type { EvalConfig } from "../config.ts";
import type { EndpointPolicy } from "../ask/policy.ts";
import { requireRun } from "../store/require_run.ts";
import { digestBatch, nameBatch, type StoredRun } from "../store/run_record.ts";
import type { NewRun, RunReader, RunStore } from "../store/store.ts";
import { findBaseline } from "../run/find_baseline.ts";
import { selectScenarios } from "./select_scenarios.ts";
import type { Detail } from "../figures/detail.ts";
import { resultPieces } from "../figures/run_result.ts";
import type { ActiveRun, RunEnd } from "../run/active_run.ts";
import { eventStream } from "../run/event_stream.ts";
import { takeReplies } from "../test/datasets/given_replies.ts";
import { decide_by, DetailQuery, keyReused, readIdempotencyKey } from "./route_parts.ts";
import type { RunManager } from "../run/manager.ts";
import { type EventResponse, logStreamEnd } from "../run/event_response.ts";
import { z } from "zod";
import {
  DatasetReference,
  loadScenarios,
  nameVersion,
  requireVersion,
} from "../test/datasets/find_version.ts";
import type { DatasetReader } from "../store/datasets.ts";

export interface EvaluateRouteDeps {
  config: EvalConfig;
  bodyLimits: BodyLimits;
  endpoints: EndpointPolicy;
  store: RunStore;
  runs: RunManager;
  beginGroup: BeginGroup;
}

/** What a request has begun or found: a run, or the runs of a group. */
interface Evaluation {
  /** Its path. */
  location: string;
  /** The run that this request follows, if it is one. */
  active?: ActiveRun | undefined;
  /** Its present state. */
  state(): unknown;
  follow(): EventResponse;
  /** The answer at its end. Throws if there is no result. */
  result(): Promise<Response>;
}

/** The query of `POST /evaluate`. */
export const EvaluateQuery = DetailQuery.extend({
  baseline: z.string().optional().meta({
    description:
      "A run to compare with, or `latest`: nothing is run unless it exists. The answer " +
      "names it in `x-baseline`.",
  }),
  decide_by,
});

interface Client extends Pick<RequestContext, "fields"> {
  client: AbortSignal;
}

/** Starts a run per target, or finds those of a request that is sent again. */
export type BeginGroup = (
  wanted: NewRun & { targets: NamedTarget[] },
  client: Client,
) => Promise<Evaluation>;

/** `POST /evaluate`: answers with the result, with a stream of events, or at once with the id. */
export function createEvaluateRoute(
  { config, bodyLimits, endpoints, store, runs, beginGroup }: EvaluateRouteDeps,
): Handler {
  const limits = {
    maxAttempts: config.EVAL_MAX_ATTEMPTS,
    maxTargets: Math.min(MAX_TARGETS, config.MAX_RUNS ?? MAX_TARGETS),
  };
  const readBody = createBodyReader(limits, store);

  /** An interrupted run continues if its request is sent again. */
  async function startOrFind(wanted: NewRun): Promise<StoredRun> {
    const started = await runs.start(wanted);
    if (started.outcome === "started") return started.active.run;
    if (started.outcome === "mismatch") throw keyReused();
    return await continueInterrupted(started.id, { store, runs });
  }

  async function beginRun(
    wanted: NewRun,
    { client, fields, detail }: Client & { detail: Detail },
  ): Promise<Evaluation> {
    fields.model = wanted.request.model_id;
    const run = await startOrFind(wanted);
    const { id } = run;
    const active = runs.active(id);
    fields.run = id;
    return {
      location: `/runs/${id}`,
      active,
      state: () => ({ run_id: id, status: run.status }),
      follow: () => eventStream({ store, runs, run, afterSeq: 0, client }),
      async result() {
        const end = await runs.end(id, client);
        fields.outcome = end.status;
        Object.assign(fields, active?.tokens());
        return answerWithResult({ store, detail }, run, end);
      },
    };
  }

  return async (request, context) => {
    const { detail, baseline: name, decide_by: decideBy } = readQuery(context.url, EvaluateQuery);
    const { request: body, sent, dataset, targets } = await readBody(request, bodyLimits);
    for (const endpoint of new Set((targets ?? [body]).map(({ endpoint }) => endpoint))) {
      if (endpoint === undefined) continue;
      endpoints.requireAllowed(endpoint);
      await endpoints.requireReachable(endpoint);
    }
    if (body.only) body.test_batch = await selectScenarios(body, store);
    const wanted = {
      request: body,
      testName: body.test_name ?? dataset ?? nameBatch(body.test_batch),
      idempotency: readIdempotencyKey(request, { context, body: sent }),
    };
    if (name !== undefined) {
      const candidate = { ...wanted, batchDigest: digestBatch(body.test_batch) };
      const found = await findBaseline(store, { name, candidate, decideBy });
      context.responseHeaders["x-baseline"] = found;
    }
    const { fields } = context;
    const client = request.signal;
    const evaluation = targets
      ? await beginGroup({ ...wanted, targets }, { client, fields })
      : await beginRun(wanted, { client, fields, detail });
    const { location } = evaluation;
    if (prefersAsync(request)) {
      return Response.json(await evaluation.state(), {
        status: 202,
        headers: { location, "preference-applied": "respond-async" },
      });
    }
    if (!wantsEvents(request)) return await evaluation.result();
    const stream = evaluation.follow();
    logStreamEnd(stream, { context, begun: evaluation.active });
    stream.response.headers.set("location", location);
    return stream.response;
  };
}

/** The run of a request that is sent again; it continues if it was interrupted. */
export async function continueInterrupted(
  id: string,
  { store, runs }: { store: RunStore; runs: RunManager },
): Promise<StoredRun> {
  const run = await requireRun(store, id);
  return run.status === "interrupted" ? (await runs.resume(run)).run : run;
}

/** Answers with the result of a run that has ended. Throws if it has none. */
function answerWithResult(
  { store, detail }: { store: RunReader; detail: Detail },
  run: StoredRun,
  { status, error }: RunEnd,
): Response {
  const headers = { location: `/runs/${run.id}` };
  if (status === "completed") return streamPieces(resultPieces(store, run, { detail }), headers);
  if (status === "running") throw resumedLater(`run ${run.id}`, headers);
  if (status !== "cancelled" && error) throw error;
  throw conflict(`cannot answer with a result: run ${run.id} is ${status}`, {
    headers,
  });
}

/** 503 for a client whose run, or group, is not finished before the service stops. */
export function resumedLater(what: string, { location }: { location: string }): AppError {
  return new AppError(
    503,
    "shutting_down",
    `cannot finish ${what} now: the service is stopping and resumes it at the next start`,
    { headers: { location, "retry-after": "5" } },
  );
}

/** Whether `Prefer` (RFC 7240) has `respond-async`, possibly among other preferences. */
function prefersAsync(request: Request): boolean {
  const preferences = request.headers.get("prefer")?.split(",") ?? [];
  return preferences.some((one) => one.split(";")[0]?.trim().toLowerCase() === "respond-async");
}

interface ReadEvaluation {
  request: EvaluateRequest;
  /** What an idempotency key is compared by: a dataset is its name here, not its scenarios. */
  sent: unknown;
  /** The dataset's name, if the request names one. */
  dataset?: string;
  /** All models, if the body names several; `request` is that of the first. */
  targets?: NamedTarget[];
}

/** Reads the body of `POST /evaluate`, which has a batch or names a dataset. */
function createBodyReader(
  { maxAttempts, maxTargets }: { maxAttempts: number; maxTargets: number },
  reader: DatasetReader,
) {
  const WithBatch = evaluateRequest(maxAttempts);
  const WithDataset = requestOf({
    ...WithBatch.shape,
    dataset: DatasetReference,
    test_batch: z.undefined({ error: "must not be sent together with dataset" }).optional(),
  });

  return async (request: Request, limits: BodyLimits): Promise<ReadEvaluation> => {
    const value = await readJsonValue(request, limits);
    const Several = severalModels(value, maxTargets);
    if (!Several) return await readOne(value, limits);
    const { targets, first } = checkBody(value, Several);
    return { ...await readOne(first, limits), sent: value, targets };
  };

  async function readOne(value: unknown, limits: BodyLimits): Promise<ReadEvaluation> {
    if (!namesDataset(value)) {
      const body = checkBody(value, WithBatch);
      return { request: takeReplies(body, { maxAttempts }), sent: body };
    }
    const { dataset: wanted, test_batch: _, ...fields } = checkBody(value, WithDataset);
    const version = await requireVersion(reader, wanted).catch(refuse);
    if (version.bytes > limits.maxBytes) {
      throw new AppError(
        413,
        "body_too_large",
        `cannot run ${nameVersion(version)}: it has ${version.bytes} bytes, and the batch of a ` +
          `run may have ${limits.maxBytes} (MAX_BODY_BYTES)`,
      );
    }
    const test_batch = await loadScenarios(reader, version);
    const request = { ...fields, test_batch, dataset: nameVersion(version) } as EvaluateRequest;
    return {
      request: takeReplies(request, { maxAttempts }),
      sent: value,
      dataset: version.name,
    };
  }
}

function namesDataset(value: unknown): boolean {
  return typeof value === "object" && value !== null && "dataset" in value;
}

/** A missing dataset is an invalid field of the body (400), not a missing route (404). */
function refuse(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "not_found") throw error;
  throw invalidField("dataset", error.message);
}
