import { accepts } from "@std/http/negotiation";
import { untilAbort } from "../../shared/abort.ts";
import { AppError } from "../../shared/errors.ts";
import { streamPieces } from "../../shared/http/json_stream.ts";
import type { Handler, RequestContext } from "../../shared/http/router.ts";
import type { EvaluateRequest } from "../../shared/schemas/evaluate.ts";
import type { EvalConfig } from "../config.ts";
import type { EndpointPolicy } from "../endpoint/policy.ts";
import { nameBatch } from "../store/batch_digest.ts";
import type { RunReader, RunStore, StoredRun } from "../store/store.ts";
import { resultPieces } from "../results/run_result.ts";
import { type ActiveRun, CLIENT_LEFT, type RunEnd } from "./active_run.ts";
import { createBodyReader, type ReadEvaluation } from "./evaluate_body.ts";
import { eventStream } from "./event_stream.ts";
import { keyReused, readIdempotencyKey } from "./idempotency_key.ts";
import type { RunManager } from "./manager.ts";
import { logStreamEnd } from "./stream_log.ts";

export interface EvaluateRouteDeps {
  config: Pick<EvalConfig, "EVAL_MAX_ATTEMPTS" | "MAX_BODY_BYTES" | "BODY_TIMEOUT_MS">;
  endpoints: EndpointPolicy;
  store: RunStore;
  runs: RunManager;
}

/** `active` is missing if the run has ended, or waits to be resumed. */
interface BegunRun {
  run: StoredRun;
  active: ActiveRun | undefined;
}

/** `POST /evaluate`: answers with the result, with a stream of events, or at once with the id. */
export function createEvaluateRoute(
  { config, endpoints, store, runs }: EvaluateRouteDeps,
): Handler {
  const readBody = createBodyReader(config.EVAL_MAX_ATTEMPTS, store);

  async function begin(
    request: Request,
    { read, context }: { read: ReadEvaluation; context: RequestContext },
  ): Promise<BegunRun> {
    const { request: body, sent, dataset } = read;
    const idempotency = await readIdempotencyKey(request, { context, body: sent });
    const started = await runs.start({
      request: body,
      testName: body.test_name ?? dataset ?? await nameBatch(body.test_batch),
      ...(idempotency && { idempotency }),
    });
    if (started.outcome === "started") return { run: started.active.run, active: started.active };
    if (started.outcome === "known") return await reattach(started.id, body);
    throw keyReused();
  }

  /** A run that was cancelled because its client disconnected continues when the client is back. */
  async function reattach(id: string, { endpoint }: EvaluateRequest): Promise<BegunRun> {
    const known = runs.active(id);
    if (known && !known.signal.aborted) return { run: known.run, active: known };
    await known?.ended; // a client that reconnects at once may find its run still being cancelled
    const run = (await store.getRun(id))!;
    const wasLost = run.status === "cancelled" && run.detail === CLIENT_LEFT;
    if (runs.waiting(id)) return { run, active: undefined };
    const isUnfinished = run.status === "interrupted" || run.status === "running";
    const isResumed = wasLost || isUnfinished;
    return { run, active: isResumed ? await runs.resume(run, { endpoint }) : undefined };
  }

  return async (request, context) => {
    const read = await readBody(request, {
      maxBytes: config.MAX_BODY_BYTES,
      timeoutMs: config.BODY_TIMEOUT_MS,
    });
    const { request: body } = read;
    endpoints.requireAllowed(body.endpoint);
    await endpoints.requireReachable(body.endpoint);
    context.fields.model = body.model_id;
    const { run, active } = await begin(request, { read, context });
    context.fields.run = run.id;
    const location = `/runs/${run.id}`;

    if (prefersAsync(request)) {
      active?.detach();
      const status = active ? "running" : run.status;
      return Response.json({ run_id: run.id, status }, {
        status: 202,
        headers: { location, "preference-applied": "respond-async" },
      });
    }
    if (accepts(request, "application/json", "text/event-stream") === "text/event-stream") {
      const stream = eventStream({ store, runs, run, afterSeq: 0, client: request.signal });
      active?.hold(stream.left);
      logStreamEnd(stream, { context, begun: active });
      stream.response.headers.set("location", location);
      return stream.response;
    }
    await untilAbort(Promise.resolve(runs.waiting(run.id)), request.signal);
    const current = active ?? runs.active(run.id);
    current?.hold(request.signal);
    let end: RunEnd = current ? await waitForEnd(current, request.signal) : { status: run.status };
    // At another instance the client of the same run may have left; this one has not.
    while (runs.isShared && end.status === "cancelled" && !request.signal.aborted) {
      const { active: again } = await reattach(run.id, body);
      if (!again) break; // a caller cancelled it
      again.hold(request.signal);
      end = await waitForEnd(again, request.signal);
    }
    context.fields.outcome = end.status;
    Object.assign(context.fields, current?.tokens());
    return answerWithResult(store, run, end);
  };
}

/** RFC 7240; the header may list other preferences too. */
function prefersAsync(request: Request): boolean {
  const preferences = request.headers.get("prefer")?.split(",") ?? [];
  return preferences.some((one) => one.split(";")[0]?.trim().toLowerCase() === "respond-async");
}

/** Rejects at once if the client leaves; other clients may still be waiting for the run. */
function waitForEnd(active: ActiveRun, client: AbortSignal): Promise<RunEnd> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(client.reason);
    if (client.aborted) leave();
    client.addEventListener("abort", leave, { once: true });
    active.ended.then((end) => {
      client.removeEventListener("abort", leave);
      resolve(end);
    });
  });
}

/** Answers with the result of a run that has ended. Throws if it has none. */
function answerWithResult(
  store: RunReader,
  run: StoredRun,
  { status, error }: RunEnd,
): Response {
  const headers = { location: `/runs/${run.id}` };
  if (status === "completed") return streamPieces(resultPieces(store, run), headers);
  if (status === "running") {
    const detail =
      `cannot finish run ${run.id} now: the service is stopping and resumes it at the next start`;
    throw new AppError(503, "shutting_down", detail, {
      headers: { ...headers, "retry-after": "5" },
    });
  }
  if (status !== "cancelled" && error) throw error;
  throw new AppError(409, "conflict", `cannot answer with a result: run ${run.id} is ${status}`, {
    headers,
  });
}
