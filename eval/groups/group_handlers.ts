import { z } from "zod";
import { list } from "../../shared/config.ts";
import { AppError } from "../../shared/errors.ts";
import { cursor, writeCursor } from "../../shared/http/cursor.ts";
import { readQuery } from "../../shared/http/query.ts";
import type { Handler } from "../../shared/http/router.ts";
import { cancelRun } from "../run/cancel_run.ts";
import { LAST_EVENT } from "../run/event_stream.ts";
import type { RunManager } from "../run/manager.ts";
import { logStreamEnd } from "../run/stream_log.ts";
import type { RunStore } from "../store/store.ts";
import { groupEventStream } from "./group_events.ts";
import type { Groups } from "./groups.ts";

const ListQuery = z.object({
  cursor: cursor(z.tuple([z.literal("group"), z.string()])).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const ReportQuery = z.object({
  /** Comma-separated; the headline if it is unset. */
  scores: list(),
  pairs: z.stringbool().default(true),
});

export interface GroupRoutesDeps {
  store: RunStore;
  runs: RunManager;
  groups: Groups;
}

/** The handlers of the routes of groups. */
export function createGroupHandlers({ store, runs, groups }: GroupRoutesDeps) {
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
      const { scores, pairs } = readQuery(url, ReportQuery);
      return Response.json(await groups.report(params.id ?? "", { scores, withPairs: pairs }));
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
      const { status, models } = await groups.view(id);
      if (models.some(({ status }) => status === "cancelled")) {
        const ended = models.map(({ run_id, name, status }) => ({ run_id, name, status }));
        return Response.json({ group_id: id, status, models: ended });
      }
      throw conflict(`cannot cancel group ${id}: it is ${status}`);
    },

    remove: async (_request, { params }) => {
      const { id = "" } = params;
      await groups.runs(id);
      const all = await listAll(store, id);
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

/** Read at once. */
const PAGE = 200;

/** The runs of a group, those that were retried included. */
async function listAll(store: RunStore, groupId: string) {
  const found = [];
  let cursor;
  do {
    const page = await store.listRuns({ groupId, limit: PAGE, ...(cursor && { cursor }) });
    found.push(...page.runs);
    cursor = page.next;
  } while (cursor);
  return found;
}

function conflict(detail: string): AppError {
  return new AppError(409, "conflict", detail);
}
