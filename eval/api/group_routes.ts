import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router/router.ts";
import { jsonAnswer } from "../../shared/ops/api_description.ts";
import { exportFormats } from "../export/export_formats.ts";
import { createGroupExport, FORMATS, GroupExportQuery } from "./export_handlers.ts";
import { GroupReport, ListedGroup, stateOf } from "../groups/group_report.ts";
import { GROUP_EVENTS, GroupState, RunLocation } from "./schemas/run_schemas.ts";
import {
  BAD_QUERY,
  CALL_PROBLEMS,
  decide_by,
  detail,
  eventAnswers,
  fileAnswer,
  flag,
  idempotencyKey,
  keyReused,
  lastEventId,
  paging,
  readIdempotencyKey,
  WRITE_PROBLEMS,
} from "./route_parts.ts";
import { conflict } from "../../shared/errors.ts";
import { cursor, writeCursor } from "../../shared/http/body/cursor.ts";
import { readQuery } from "../../shared/http/body/body.ts";
import type { RunManager } from "../run/manager/manager.ts";
import { LAST_EVENT } from "../run/events/event_stream.ts";
import { isRetryWanted, requireRetriable, startRetry } from "../run/manager/retries.ts";
import { logStreamEnd } from "../run/events/event_response.ts";
import { allRuns } from "../store/runs/require_run.ts";
import type { RunRecord } from "../store/runs/run_record.ts";
import { groupEventStream } from "../groups/group_events.ts";
import { groupInDetail, type Groups } from "../groups/groups.ts";
import type { EndpointPolicy } from "../endpoint/policy.ts";
import type { RunStore } from "../store/store.ts";

const path = z.object({ id: z.string().meta({ description: "The group." }) });
const NOT_FOUND = { 404: "`not_found`: there is no such group" };
const CONFLICT = { 409: "`conflict`: the group is not in a state for that" };

const ListQuery = z.object(
  paging(cursor(z.tuple([z.literal("group"), z.string()])), { usual: 50, most: 200 }),
);

const ReportQuery = z.object({
  decide_by,
  detail,
  pairs: flag(true, "`false`: without verdicts, which read all turns of the runs."),
});

/** The routes about groups: runs of the same batch with several models. */
export function createGroupRoutes(deps: GroupHandlerDeps): Route[] {
  const handlers = createGroupHandlers(deps);
  return [
    {
      method: "GET",
      path: "/groups",
      summary: "The groups of runs with several models, newest first",
      params: { query: ListQuery },
      answers: {
        200: jsonAnswer(
          "A page of them.",
          z.object({ groups: z.array(ListedGroup), next_cursor: z.string().nullable() })
            .meta({ id: "GroupList" }),
        ),
      },
      problems: BAD_QUERY,
      handler: handlers.list,
    },
    {
      method: "GET",
      path: "/groups/:id",
      summary: "Several models: their scores, their costs, and which is better",
      index: { text: "several models: scores, costs, and which is better" },
      params: { path, query: ReportQuery },
      answers: { 200: jsonAnswer("The group.", GroupReport) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: handlers.show,
    },
    {
      method: "GET",
      path: "/groups/:id/export",
      summary: "One group as a file",
      index: { query: `format=${FORMATS.join("|")}` },
      params: { path, query: GroupExportQuery },
      answers: {
        200: fileAnswer(exportFormats, GroupReport),
      },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...CONFLICT },
      handler: createGroupExport(deps),
    },
    {
      method: "GET",
      path: "/groups/:id/events",
      summary: "The progress of a group, as server-sent events",
      params: { path, header: lastEventId },
      answers: eventAnswers(GROUP_EVENTS),
      problems: NOT_FOUND,
      handler: handlers.follow,
    },
    {
      method: "POST",
      path: "/groups/:id/cancel",
      summary: "End all runs of a group and keep what is finished",
      params: { path },
      answers: { 200: jsonAnswer("They are cancelled.", GroupState) },
      problems: { ...NOT_FOUND, ...CONFLICT, ...WRITE_PROBLEMS },
      handler: handlers.cancel,
    },
    {
      method: "POST",
      path: "/groups/:id/retry",
      summary: "Ask again what failed in the runs of a group; the new runs take their places",
      params: { path, header: idempotencyKey },
      answers: {
        202: jsonAnswer("The group with the new runs.", GroupState, { location: RunLocation }),
      },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...CONFLICT, ...CALL_PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.retry,
    },
    {
      method: "DELETE",
      path: "/groups/:id",
      summary: "Delete all runs of a group",
      params: { path },
      answers: { 204: { description: "They are deleted." } },
      problems: { ...NOT_FOUND, ...CONFLICT, ...WRITE_PROBLEMS },
      handler: handlers.remove,
    },
  ];
}

interface GroupHandlerDeps {
  store: RunStore;
  runs: RunManager;
  endpoints: Pick<EndpointPolicy, "requireAllowed">;
  groups: Groups;
}

function createGroupHandlers({ store, runs, endpoints, groups }: GroupHandlerDeps) {
  return {
    list: async (_request, { url }) => {
      const { cursor: given, limit } = readQuery(url, ListQuery);
      const found = await groups.list({ before: given?.[1], limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return Response.json({
        groups: page,
        next_cursor: last ? writeCursor(["group", last.group_id]) : null,
      });
    },

    show: async (_request, { params, url }) => {
      const { decide_by: decideBy, pairs, detail } = readQuery(url, ReportQuery);
      const report = await groups.report(params.id ?? "", { decideBy, withPairs: pairs });
      return Response.json(groupInDetail(report, detail));
    },

    follow: async (request, context) => {
      const { id = "" } = context.params;
      await groups.runs(id);
      // 204 tells `EventSource` not to reconnect.
      if (request.headers.get("last-event-id") === LAST_EVENT) {
        return new Response(null, { status: 204 });
      }
      const stream = groupEventStream({ groups, runs, groupId: id, client: request.signal });
      logStreamEnd(stream, { context });
      return stream.response;
    },

    cancel: async (_request, { params }) => {
      const { id = "" } = params;
      const members = await groups.runs(id);
      await Promise.all(members.map((run) => runs.cancel(run)));
      const group = await groups.view(id);
      if (group.models.some(({ status }) => status === "cancelled")) {
        return Response.json(stateOf(group));
      }
      throw conflict(`cannot cancel group ${id}: it is ${group.status}`);
    },

    retry: async (request, context) => {
      const { id = "" } = context.params;
      const members = await groups.runs(id);
      const body = { retry_group: id };
      const given = readIdempotencyKey(request, { context, body });
      /** A retry takes its parent's place, so that a request that is sent again finds it there. */
      const keyOf = ({ group }: RunRecord) =>
        given && { ...given, key: `${given.key} ${group!.index}` };
      const wanted: RunRecord[] = [];
      let isKnown = false;
      for (const run of members) {
        const key = keyOf(run);
        const known = key && await store.findByKey(key);
        if (known?.outcome === "mismatch") throw keyReused();
        if (known) isKnown = true;
        else if (!runs.isRunning(run) && await isRetryWanted(run, store)) wanted.push(run);
      }
      if (wanted.length === 0 && !isKnown) {
        throw conflict(
          `cannot retry group ${id}: no turn of its runs that have ended failed or lacks a score`,
        );
      }
      for (const run of wanted) requireRetriable(run, { runs, endpoints });
      for (const run of wanted) {
        await startRetry(run, { store, runs, idempotency: keyOf(run) });
      }
      return Response.json(stateOf(await groups.view(id)), {
        status: 202,
        headers: { location: `/groups/${id}` },
      });
    },

    remove: async (_request, { params }) => {
      const { id = "" } = params;
      await groups.runs(id);
      // Including those that were retried.
      const all = await Array.fromAsync(allRuns(store, { groupId: id }));
      const running = all.find((run) => runs.isRunning(run));
      if (running) {
        throw conflict(
          `cannot delete group ${id}: run ${running.id} is running; cancel the group first`,
        );
      }
      for (const run of all) await store.deleteRun(run.id);
      return new Response(null, { status: 204 });
    },
  } satisfies Record<string, Handler>;
}
