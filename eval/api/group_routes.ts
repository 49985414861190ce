import { z } from "zod";
import type { Route } from "../../shared/http/router/router.ts";
import { jsonAnswer } from "../../shared/ops/api_description.ts";
import { createGroupExportRoute } from "./group_export_route.ts";
import { groupFormats } from "../export/formats/group_formats.ts";
import { createGroupHandlers, type GroupHandlerDeps } from "./group_handlers.ts";
import { GroupReport, ListedGroup } from "../groups/group_report.ts";
import { RunLocation } from "./run_schemas.ts";
import { GROUP_EVENTS, GroupState } from "./group_schemas.ts";
import {
  BAD_QUERY,
  bom,
  CALL_PROBLEMS,
  decide_by,
  detail,
  eventAnswers,
  fileAnswer,
  idempotencyKey,
  lastEventId,
  paging,
  WRITE_PROBLEMS,
} from "./route_parts.ts";

const FORMATS = groupFormats.map(({ name }) => name);
const path = z.object({ id: z.string().meta({ description: "The group." }) });
const NOT_FOUND = { 404: "`not_found`: there is no such group" };
const CONFLICT = { 409: "`conflict`: the group is not in a state for that" };

/** The routes about groups: runs of the same batch with several models. */
export function createGroupRoutes(deps: GroupHandlerDeps): Route[] {
  const handlers = createGroupHandlers(deps);
  return [
    {
      method: "GET",
      path: "/groups",
      summary: "The groups of runs with several models, newest first",
      params: {
        query: z.object(paging({ usual: 50, most: 200 })),
      },
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
      params: {
        path,
        query: z.object({
          decide_by,
          detail,
          pairs: z.boolean().optional().meta({
            description: "`false`: without verdicts, which read all turns of the runs.",
          }),
        }),
      },
      answers: { 200: jsonAnswer("The group.", GroupReport) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: handlers.show,
    },
    {
      method: "GET",
      path: "/groups/:id/export",
      summary: "One group as a file",
      index: { query: `format=${FORMATS.join("|")}` },
      params: {
        path,
        query: z.object({
          format: z.enum(FORMATS).optional().meta({ description: "`json` if unset." }),
          decide_by,
          detail,
          bom,
        }),
      },
      answers: {
        200: fileAnswer(groupFormats, GroupReport),
      },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...CONFLICT },
      handler: createGroupExportRoute(deps),
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
