import { z } from "zod";
import { conflict } from "../../shared/errors.ts";
import { cursor, writeCursor } from "../../shared/http/body/cursor.ts";
import { readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import { cancelRun } from "../run/manager/cancel_run.ts";
import { LAST_EVENT } from "../run/events/event_stream.ts";
import { keyReused, readIdempotencyKey } from "./idempotency_key.ts";
import { createRetries, type RetryDeps } from "../run/manager/retries.ts";
import { logStreamEnd } from "../run/events/stream_log.ts";
import { allRuns } from "../store/runs/all_runs.ts";
import type { RunRecord } from "../store/runs/run_record.ts";
import { groupEventStream } from "../groups/group_events.ts";
import { stateOf } from "../groups/group_views.ts";
import { groupInDetail, type Groups } from "../groups/groups.ts";
import { Detail } from "../results/detail.ts";

const ListQuery = z.object({
  cursor: cursor(z.tuple([z.literal("group"), z.string()])).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const ReportQuery = z.object({
  decide_by: z.string().min(1).optional(),
  detail: Detail,
  pairs: z.stringbool().default(true),
});

export interface GroupHandlerDeps extends RetryDeps {
  groups: Groups;
}

/** The handlers of the routes of groups. */
export function createGroupHandlers({ store, runs, endpoints, groups }: GroupHandlerDeps) {
  const retries = createRetries({ store, runs, endpoints });
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
      await Promise.all(members.map((run) => cancelRun(run, { store, runs })));
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
      const given = await readIdempotencyKey(request, { context, body });
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
        else if (!runs.isRunning(run) && await retries.isWanted(run)) wanted.push(run);
      }
      if (wanted.length === 0 && !isKnown) {
        throw conflict(
          `cannot retry group ${id}: no turn of its runs that have ended failed or lacks a score`,
        );
      }
      for (const run of wanted) retries.requirePossible(run);
      for (const run of wanted) await retries.start(run, keyOf(run));
      return Response.json(stateOf(await groups.view(id)), {
        status: 202,
        headers: { location: `/groups/${id}` },
      });
    },

    remove: async (_request, { params }) => {
      const { id = "" } = params;
      await groups.runs(id);
      // Those that were retried, too.
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
