import { conflict } from "../../shared/service/errors.ts";
import { z } from "zod";
import { cursor, forgedCursor, writeCursor, wrongCursor } from "../../shared/http/cursor.ts";
import { streamPieces } from "../../shared/http/answer.ts";
import { type BodyLimits, readJson, readQuery } from "../../shared/http/body.ts";
import type { Handler, RequestContext } from "../../shared/http/router.ts";
import type { EndpointPolicy } from "../ask/policy.ts";
import type { Summaries } from "../figures/summaries.ts";
import { RUN_SORTS, type RunCursor, type RunSort } from "../store/list_query.ts";
import type { RunRecord, StoredRun } from "../store/run_record.ts";
import type { NewRun, RunStore } from "../store/store.ts";
import { createRunViewer, RunStatus, withResult } from "../run/view.ts";
import { BudgetInput, RescoreRequest, RunChange } from "./schemas/run_schemas.ts";
import { described, detail, flag, keyReused, paging, readIdempotencyKey } from "./route_parts.ts";
import { SearchedText } from "./turn_list_query.ts";
import type { RunManager } from "../run/manager.ts";
import { resultPieces } from "../figures/run_result.ts";
import { planRescore } from "../run/rescores.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import { requireRecord, requireRun } from "../store/require_run.ts";

/** `-name` sorts downwards. */
const RunSortName = z.enum(RUN_SORTS.flatMap((name) => [name, `-${name}` as const]))
  .default("-created_at").transform((sort): RunSort => ({
    by: sort.replace(/^-/, "") as RunSort["by"],
    isDescending: sort.startsWith("-"),
  }));
const SortValue = z.union([z.string(), z.number(), z.null()]);

export const RunListQuery = z.object({
  test_name: z.string().optional().meta({ description: "Runs of this test." }),
  model_id: z.string().optional().meta({ description: "Runs of this model." }),
  status: RunStatus.optional().meta({ description: "Runs in this state." }),
  group: z.string().optional().meta({ description: "Runs of this group." }),
  text: SearchedText.optional().meta({
    description:
      "In the name of the test, of the model, in a tag or in the id, in any letter case.",
  }),
  sort: described(RunSortName, "With `-` in front: descending. Runs without a value come last."),
  ...paging(cursor(z.tuple([z.string(), z.string(), SortValue])), { usual: 50, most: 200 }),
});

/** The query of `GET /runs/{id}`. A result may have megabytes. */
export const RunQuery = z.object({
  result: flag(true, "`false`: without its result."),
  detail,
});

export interface RunHandlerDeps {
  store: RunStore;
  runs: RunManager;
  endpoints: EndpointPolicy;
  scoring: ScoringPorts;
  summaries: Summaries;
  bodyLimits: BodyLimits;
}

export function createRunHandlers(
  { store, runs, endpoints, scoring, summaries, bodyLimits }: RunHandlerDeps,
) {
  const view = createRunViewer({ store, runs });

  const find = async (id = ""): Promise<StoredRun> =>
    runs.active(id)?.run ?? await requireRun(store, id);

  /** A run without its request: parsing a large one blocks the event loop. */
  const findRecord = async (id = ""): Promise<RunRecord> =>
    runs.active(id)?.run ?? await requireRecord(store, id);

  async function viewTagged(run: RunRecord) {
    const tags = (await store.tagsOf([run.id])).get(run.id);
    return { ...await view(run), ...(tags && { tags }) };
  }

  /** Starts a run with a parent, or finds the one of a request that is sent again. */
  async function startAgain(
    { request, context, parentId, sent }: {
      request: Request;
      context: RequestContext;
      parentId: string;
      /** What an idempotency key is compared by. */
      sent: unknown;
    },
    plan: () => Promise<NewRun>,
  ): Promise<Response> {
    const idempotency = readIdempotencyKey(request, { context, body: sent });
    const known = idempotency && await store.findByKey(idempotency);
    const started = known ?? await runs.start({ ...await plan(), idempotency });
    if (started.outcome === "mismatch") throw keyReused();
    const id = started.outcome === "started" ? started.active.run.id : started.id;
    const { status } = started.outcome === "started"
      ? started.active.run
      : await view(await findRecord(id));
    return Response.json({ run_id: id, parent_id: parentId, status }, {
      status: 202,
      headers: { location: `/runs/${id}` },
    });
  }

  return {
    list: async (_request, { url }) => {
      const { test_name: testName, model_id: modelId, group: groupId, ...query } = readQuery(
        url,
        RunListQuery,
      );
      const { sort } = query;
      const cursor = query.cursor && readRunCursor(query.cursor, sort);
      const page = await store.listRuns({ testName, modelId, groupId, ...query, cursor });
      const headlines = await summaries.headlines(page.runs);
      const tags = await store.tagsOf(page.runs.map(({ id }) => id));
      const views = await Promise.all(page.runs.map(async (run) => ({
        ...await view(run),
        ...(tags.has(run.id) && { tags: tags.get(run.id) }),
        headline: headlines.get(run.id) ?? null,
      })));
      const { next } = page;
      return Response.json({
        runs: views,
        next_cursor: next && writeCursor([nameSort(sort), next.id, next.value]),
      });
    },

    show: async (_request, { params, url }) => {
      const { result, detail } = readQuery(url, RunQuery);
      if (!result) {
        return Response.json(await viewTagged(await findRecord(params.id)));
      }
      const run = await find(params.id);
      const shown = await viewTagged(run);
      if (shown.status !== "completed") return Response.json(shown);
      return streamPieces(withResult(shown, resultPieces(store, run, { detail })));
    },

    request: async (_request, { params }) => {
      const { request: { scored_by: _, rescored: __, test_batch, ...asked }, testName } =
        await find(params.id);
      // A stored request with a dataset has its scenarios as well.
      const batch = asked.dataset === undefined ? { test_batch } : {};
      return Response.json({ test_name: testName, ...asked, ...batch });
    },

    cancel: async (_request, { params }) => {
      const run = await findRecord(params.id);
      await runs.cancel(run);
      const { status } = await findRecord(run.id);
      if (status === "cancelled") return Response.json({ run_id: run.id, status });
      throw conflict(`cannot cancel run ${run.id}: it is ${status}`);
    },

    retry: async (request, context) => {
      const parent = await findRecord(context.params.id);
      const { id: parentId, testName, endpoint, totalTurns } = parent;
      const refuse = (why: string) => conflict(`cannot retry run ${parentId}: ${why}`);
      const { budget } = request.headers.has("content-type")
        ? await readJson(request, BudgetInput, bodyLimits)
        : {};
      return await startAgain(
        { request, context, parentId, sent: { retry: parentId, budget } },
        async () => {
          if (runs.isRunning(parent)) throw refuse("it is running");
          if (endpoint !== null) endpoints.requireAllowed(endpoint);
          const { done, failed, missing } = await store.tally(parentId);
          if (failed === 0 && missing === 0 && done === totalTurns) {
            throw refuse("no turn of it failed or lacks a score");
          }
          const { request } = (await store.getRun(parentId))!;
          if (budget) request.budget = budget;
          return { request, testName, parentId };
        },
      );
    },

    rescore: async (request, context) => {
      const parent = await find(context.params.id);
      const { id: parentId } = parent;
      const change = await readJson(request, RescoreRequest, bodyLimits);
      const client = request.signal;
      return await startAgain(
        { request, context, parentId, sent: { rescore: parentId, change } },
        () => planRescore(parent, change, { runs, scoring, client }),
      );
    },

    change: async (request, { params }) => {
      const { test_name: testName, tags } = await readJson(request, RunChange, bodyLimits);
      const run = await findRecord(params.id);
      if (testName !== undefined && runs.isRunning(run)) {
        throw conflict(`cannot rename run ${run.id}: it is running`);
      }
      await store.describeRun(run.id, { testName, tags });
      return Response.json(await viewTagged(await findRecord(run.id)));
    },

    remove: async (_request, { params }) => {
      const run = await findRecord(params.id);
      const { id } = run;
      if (runs.isRunning(run)) {
        throw conflict(`cannot delete run ${id}: it is running; cancel it first`);
      }
      await store.deleteRun(id);
      return new Response(null, { status: 204 });
    },
  } satisfies Record<string, Handler>;
}

function nameSort({ by, isDescending }: RunSort): string {
  return isDescending ? `-${by}` : by;
}

function readRunCursor(
  [name, id, value]: [string, string, string | number | null],
  sort: RunSort,
): RunCursor {
  if (name !== nameSort(sort)) throw wrongCursor(name);
  // PostgreSQL compares a column only with values of its type, and no text with a NUL.
  if (!isSortValue(value, sort) || id.includes("\0")) throw forgedCursor();
  return { id, value };
}

function isSortValue(value: string | number | null, { by }: RunSort): boolean {
  if (value === null) return true;
  if (by === "overall") return typeof value === "number";
  if (by === "duration") return Number.isSafeInteger(value);
  return typeof value === "string" && !value.includes("\0");
}
