import type { Route } from "../../shared/http/router/router.ts";
import { jsonAnswer } from "../../shared/ops/api_description.ts";
import { RunSummary } from "../results/run_summary.ts";
import { createRunOutlines } from "../run/events/turn_view.ts";
import { createTurnHandlers, ScenarioListQuery, type TurnHandlerDeps } from "./turn_handlers.ts";
import { TurnListQuery } from "./turn_list_query.ts";
import { createTurnSearch, TurnSearchQuery } from "./turn_search.ts";
import { ScenarioPage, ShownTurn, TurnPage, TurnSearch } from "./schemas/turn_schemas.ts";
import { BAD_QUERY, DetailQuery, runPath, turnPath } from "./route_parts.ts";

const NOT_FOUND = { 404: "`not_found`: there is no such run, or no such turn in it" };

/** The routes of the turns and scenarios of a run, row by row. */
export function createTurnRoutes(deps: TurnHandlerDeps): Route[] {
  const readOutline = createRunOutlines(deps);
  const turns = createTurnHandlers({ ...deps, readOutline });
  return [
    {
      method: "GET",
      path: "/runs/:id/turns",
      summary: "The turns of a run, sorted and filtered, also while it is running",
      params: { path: runPath, query: TurnListQuery },
      answers: { 200: jsonAnswer("A page of them.", TurnPage) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.list,
    },
    {
      method: "GET",
      path: "/turns",
      summary: "The turns of all runs that contain a text, the newest runs first",
      params: { query: TurnSearchQuery },
      answers: { 200: jsonAnswer("A page of them, by run.", TurnSearch) },
      problems: BAD_QUERY,
      handler: createTurnSearch({ ...deps, readOutline }),
    },
    {
      method: "GET",
      path: "/runs/:id/turns/:scenario/:attempt/:turn",
      summary: "One turn with its conversation",
      params: { path: turnPath },
      answers: { 200: jsonAnswer("The turn.", ShownTurn) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.show,
    },
    {
      method: "GET",
      path: "/runs/:id/summary",
      summary: "A run's averages, pass rates, labels and histograms, without its texts",
      params: { path: runPath, query: DetailQuery },
      answers: { 200: jsonAnswer("The summary.", RunSummary) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.summary,
    },
    {
      method: "GET",
      path: "/runs/:id/scenarios",
      summary: "The scenarios of a run with the score of each attempt",
      params: { path: runPath, query: ScenarioListQuery },
      answers: { 200: jsonAnswer("A page of them.", ScenarioPage) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.scenarios,
    },
  ];
}
