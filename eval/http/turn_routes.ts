import { z } from "zod";
import { readQuery } from "../../shared/http/body.ts";
import { cursor, writeCursor } from "../../shared/http/cursor.ts";
import type { Handler, Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import { RunSummary } from "../figures/run_summary.ts";
import { createRunOutlines, type ReadOutline, type TurnRow, viewTurn } from "../run/turn_view.ts";
import type { RunCursor, TurnCursor, TurnQueryPage } from "../store/list_query.ts";
import type { RunReader } from "../store/store.ts";
import { createTurnHandlers, ScenarioListQuery, type TurnHandlerDeps } from "./turn_handlers.ts";
import { SearchedText, TurnListQuery } from "./turn_list_query.ts";
import { ScenarioPage, ShownTurn, TurnPage, TurnSearch } from "./schemas/turn_schemas.ts";
import { BAD_QUERY, DetailQuery, paging, runPath, turnPath } from "./route_parts.ts";

/** Turns of one run that are shown, and how much of their texts. */
const FOUND_PER_RUN = 3;
const EXCERPT = 600;
/** After this time a search answers with what it has found. */
const SEARCH_MS = 2_000;

const TurnSearchQuery = z.object({
  text: SearchedText.min(1).meta({
    description: "In the message, the reply or the reference, in any letter case.",
  }),
  ...paging(cursor(z.tuple([z.string()])), {
    usual: 20,
    most: 100,
    description: "Runs with such turns; 20 if unset. A page may have fewer, also none.",
  }),
});

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

/** `GET /turns`: the turns of all runs that contain a text. */
function createTurnSearch(
  { store, readOutline }: { store: RunReader; readOutline: ReadOutline },
): Handler {
  /** The first turns of a run with a text. */
  async function findTurns(id: string, text: string) {
    const outline = await readOutline(id);
    const fields = { names: ["user_message", "agent_reply", "reference_reply"], maxChars: EXCERPT };
    const turns: TurnRow[] = [];
    let after: TurnCursor | null = null;
    do {
      const page: TurnQueryPage = await store.queryTurns(id, {
        filter: { text },
        sort: { by: "position", isDescending: false },
        limit: FOUND_PER_RUN + 1,
        withResults: true,
        after: after ?? undefined,
      });
      turns.push(...page.turns.map((turn) => viewTurn(turn, { outline, fields })));
      after = page.next;
    } while (after && turns.length <= FOUND_PER_RUN);
    return { turns: turns.slice(0, FOUND_PER_RUN), hasMore: turns.length > FOUND_PER_RUN };
  }

  return async (_request, { url }) => {
    const { text, cursor, limit } = readQuery(url, TurnSearchQuery);
    const until = performance.now() + SEARCH_MS;
    const found: TurnSearch["runs"] = [];
    let next: RunCursor | null = cursor ? { id: cursor[0], value: null } : null;
    let isOver = false;
    while (!isOver && found.length < limit && performance.now() < until) {
      const page = await store.listRuns({ limit: 1, cursor: next ?? undefined });
      const [run] = page.runs;
      if (run) {
        next = { id: run.id, value: null };
        const { turns, hasMore } = await findTurns(run.id, text);
        if (turns.length > 0) {
          found.push({
            run_id: run.id,
            test_name: run.testName,
            model_id: run.modelId,
            ...(run.group && { name: run.group.name }),
            created_at: new Date(run.createdAt).toISOString(),
            turns,
            has_more: hasMore,
          });
        }
      }
      isOver = page.next === null;
    }
    return Response.json({
      runs: found,
      next_cursor: isOver || !next ? null : writeCursor([next.id]),
    });
  };
}
