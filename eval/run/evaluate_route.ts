import { accepts } from "@std/http/negotiation";
import { untilAbort } from "../../shared/abort.ts";
import { readJson } from "../../shared/http/body.ts";
import type { Handler, RequestContext } from "../../shared/http/router.ts";
import { type EvaluateRequest, evaluateRequest } from "../../shared/schemas/evaluate.ts";
import type { EvalConfig } from "../config.ts";
import type { EndpointPolicy } from "../endpoint/policy.ts";
import type { RunStore, StoredRun } from "../store/store.ts";
import { nameTest } from "../results/summary.ts";
import { type ActiveRun, CLIENT_LEFT } from "./active_run.ts";
import { eventStream } from "./event_stream.ts";
import { keyReused, readIdempotencyKey } from "./idempotency_key.ts";
import { answerWithResult, waitForEnd } from "./result_answer.ts";
import type { RunManager } from "./manager.ts";
import { logStreamEnd } from "./stream_log.ts";

export interface EvaluateRouteDeps {
  config: Pick<EvalConfig, "EVAL_MAX_ATTEMPTS" | "MAX_BODY_BYTES" | "BODY_TIMEOUT_MS">;
  endpoints: EndpointPolicy;
  store: RunStore;
  runs: RunManager;
}

/** `active` is missing if the run is over, or waits for its place. */
interface BegunRun {
  run: StoredRun;
  active: ActiveRun | undefined;
}

/** `POST /evaluate`: waits for the result, streams the way there, or leaves it to be fetched. */
export function createEvaluateRoute(
  { config, endpoints, store, runs }: EvaluateRouteDeps,
): Handler {
  const Body = evaluateRequest(config.EVAL_MAX_ATTEMPTS);

  async function begin(
    request: Request,
    { body, context }: { body: EvaluateRequest; context: RequestContext },
  ): Promise<BegunRun> {
    const idempotency = await readIdempotencyKey(request, { context, body });
    const started = await runs.start({
      request: body,
      testName: nameTest(body),
      ...(idempotency && { idempotency }),
    });
    if (started.outcome === "started") return { run: started.active.run, active: started.active };
    if (started.outcome === "known") return await reattach(started.id, body);
    throw keyReused();
  }

  /** A run that ended only because its client was lost goes on when the client comes back. */
  async function reattach(id: string, { endpoint }: EvaluateRequest): Promise<BegunRun> {
    const known = runs.active(id);
    if (known && !known.signal.aborted) return { run: known.run, active: known };
    await known?.ended; // a client that comes back at once meets the run it has just lost
    const run = (await store.getRun(id))!;
    const wasLost = run.status === "cancelled" && run.detail === CLIENT_LEFT;
    if (runs.waiting(id)) return { run, active: undefined };
    const isUnfinished = run.status === "interrupted" || run.status === "running";
    const goesOn = wasLost || isUnfinished;
    return { run, active: goesOn ? await runs.resume(run, { endpoint }) : undefined };
  }

  return async (request, context) => {
    const body = await readJson(request, Body, {
      maxBytes: config.MAX_BODY_BYTES,
      timeoutMs: config.BODY_TIMEOUT_MS,
    });
    endpoints.requireAllowed(body.endpoint);
    await endpoints.requireReachable(body.endpoint);
    context.fields.model = body.model_id;
    const { run, active } = await begin(request, { body, context });
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
    const end = current ? await waitForEnd(current, request.signal) : { status: run.status };
    context.fields.outcome = end.status;
    Object.assign(context.fields, current?.tokens());
    return answerWithResult(store, run, end);
  };
}

/** RFC 7240; other preferences may stand beside it. */
function prefersAsync(request: Request): boolean {
  const preferences = request.headers.get("prefer")?.split(",") ?? [];
  return preferences.some((one) => one.split(";")[0]?.trim().toLowerCase() === "respond-async");
}
