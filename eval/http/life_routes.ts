import { z } from "zod";
import { conflict } from "../../shared/service/errors.ts";
import { type BodyLimits, readJson, readJsonValue, readQuery } from "../../shared/http/body.ts";
import type { Handler, Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import type { EndpointPolicy } from "../ask/policy.ts";
import type { Comparer } from "../figures/compare_stored.ts";
import { findBaseline } from "../run/find_baseline.ts";
import { GateAnswer, GateInput, holdAgainstGate } from "../report/gate.ts";
import { logStreamEnd } from "../run/event_response.ts";
import { eventStream, LAST_EVENT } from "../run/event_stream.ts";
import type { RunManager } from "../run/manager.ts";
import { createSharedReading, requireRecord, requireRun } from "../store/require_run.ts";
import type { RunStore } from "../store/store.ts";
import { readResult, WrittenResult } from "./import_result.ts";
import {
  CALL_PROBLEMS,
  decide_by,
  eventAnswers,
  flag,
  LARGEST_INTEGER,
  lastEventId,
  runPath,
  WRITE_PROBLEMS,
} from "./route_parts.ts";
import { BudgetInput, RUN_EVENTS, RunLocation, RunState } from "./schemas/run_schemas.ts";

const NOT_FOUND = { 404: "`not_found`: there is no such run" };
const CONFLICT = { 409: "`conflict`: the run is not in a state for that" };
const UNFIT = { 400: "`invalid_request`: a parameter or a field does not fit" };

/** The query of the events of a run. */
const EventsQuery = z.object({
  turns: flag(true, "`false`: `progress`, and `ended` at the end, whatever the end is."),
});

const WRITTEN = {
  run_id: "0198c0de-1111-7000-8000-000000000000",
  test_name: "greeting",
  endpoint: "http://127.0.0.1:8000",
  model_id: "demo/assistant",
  results: { scenarios: [] },
};

const BaselineQuery = z.object({
  name: z.string().meta({
    description:
      "A run, or `latest`: the last run before this one of the same test or batch that " +
      "is complete, had at most 10 % failed calls and met its gate.",
  }),
  decide_by,
});

/** The routes that a run goes through from its start to its gate. */
export function createLifeRoutes(
  deps: {
    store: RunStore;
    runs: RunManager;
    comparer: Comparer;
    endpoints: EndpointPolicy;
    bodyLimits: BodyLimits;
  },
): Route[] {
  const { store, runs, endpoints, bodyLimits } = deps;
  const followed = createSharedReading((id) => requireRun(store, id));

  const follow: Handler = async (request, context) => {
    const { id = "" } = context.params;
    const { turns: withTurns } = readQuery(context.url, EventsQuery);
    const run = runs.active(id)?.run ?? await followed(id);
    const last = request.headers.get("last-event-id");
    // 204 tells `EventSource` not to reconnect.
    if (last === LAST_EVENT) return new Response(null, { status: 204 });
    const afterSeq = /^\d{1,15}$/.test(last ?? "") ? Math.min(Number(last), LARGEST_INTEGER) : 0;
    const client = request.signal;
    const stream = eventStream({ store, runs, run, afterSeq, withTurns, client });
    logStreamEnd(stream, { context });
    return stream.response;
  };

  return [
    {
      method: "POST",
      path: "/runs",
      summary: "Store a run that another database has, from its result",
      body: { schema: WrittenResult, example: WRITTEN },
      answers: {
        200: jsonAnswer("It is stored already.", RunState),
        201: jsonAnswer("It is stored.", RunState),
      },
      problems: { ...UNFIT, ...WRITE_PROBLEMS },
      async handler(request) {
        const run = readResult(await readJsonValue(request, bodyLimits));
        const { id } = run.written!;
        const known = await store.getRecord(id);
        if (!known) await store.createRun(run);
        const { status } = known ?? { status: "completed" };
        return Response.json({ run_id: id, status }, { status: known ? 200 : 201 });
      },
    },
    {
      method: "GET",
      path: "/runs/:id/events",
      summary: "What happens in a run, as server-sent events",
      params: { path: runPath, query: EventsQuery, header: lastEventId },
      answers: eventAnswers(RUN_EVENTS),
      problems: NOT_FOUND,
      handler: follow,
    },
    {
      method: "POST",
      path: "/runs/:id/interrupt",
      summary: "Let the running calls of a run end, and ask no further; it can be resumed",
      params: { path: runPath },
      answers: { 202: jsonAnswer("It ends.", RunState) },
      problems: { ...NOT_FOUND, ...CONFLICT, ...WRITE_PROBLEMS },
      async handler(_request, { params }) {
        const { id, status } = await requireRecord(store, params.id ?? "");
        runs.interrupt(id);
        return Response.json({ run_id: id, status }, { status: 202 });
      },
    },
    {
      method: "POST",
      path: "/runs/:id/resume",
      summary: "Run what is left of a run that has ended early",
      params: { path: runPath },
      body: { schema: BudgetInput, example: { budget: { tokens: 100_000 } } },
      answers: { 202: jsonAnswer("It is running.", RunState, { location: RunLocation }) },
      problems: { ...UNFIT, ...NOT_FOUND, ...CONFLICT, ...CALL_PROBLEMS, ...WRITE_PROBLEMS },
      async handler(request, { params }) {
        const { budget } = await readJson(request, BudgetInput, bodyLimits);
        const run = await requireRun(store, params.id ?? "");
        const { id, endpoint } = run;
        if (run.status === "completed") throw conflict(`cannot resume run ${id}: it is complete`);
        if (endpoint !== null) endpoints.requireAllowed(endpoint);
        if (budget) run.request.budget = budget;
        await runs.resume(run);
        const headers = { location: `/runs/${id}` };
        return Response.json({ run_id: id, status: "running" }, { status: 202, headers });
      },
    },
    {
      method: "GET",
      path: "/runs/:id/baseline",
      summary: "The run that another one is to be compared with",
      params: { path: runPath, query: BaselineQuery },
      answers: { 200: jsonAnswer("The baseline.", RunState) },
      problems: { ...UNFIT, ...NOT_FOUND },
      async handler(_request, { params, url }) {
        const { name, decide_by: decideBy } = readQuery(url, BaselineQuery);
        const candidate = await requireRun(store, params.id ?? "");
        const id = await findBaseline(store, { name, candidate, decideBy });
        return Response.json({ run_id: id, status: "completed" });
      },
    },
    {
      method: "POST",
      path: "/runs/:id/gate",
      summary: "Does a run reach what it has to?",
      params: { path: runPath },
      body: { schema: GateInput, example: { min_pass_rate: 0.9 } },
      answers: { 200: jsonAnswer("Whether it does, and why.", GateAnswer) },
      problems: { ...UNFIT, ...NOT_FOUND, ...CONFLICT, ...WRITE_PROBLEMS },
      async handler(request, { params }) {
        const input = await readJson(request, GateInput, bodyLimits);
        const run = await requireRun(store, params.id ?? "");
        if (run.status !== "completed") {
          throw conflict(`cannot hold run ${run.id} against a gate: it is ${run.status}`);
        }
        return Response.json(await holdAgainstGate(run, input, deps));
      },
    },
  ];
}
