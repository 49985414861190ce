import { z } from "zod";
import { forgedCursor, writeCursor, wrongCursor } from "../../shared/http/body/cursor.ts";
import { readParams, readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { Summaries } from "../results/summaries.ts";
import { holdWithBars } from "../results/passing.ts";
import type { AttemptRow, TurnCursor, TurnFilter } from "../store/runs/list_query.ts";
import type { RunStore } from "../store/store.ts";
import { ScenarioListQuery, TurnListQuery, TurnPath } from "./list_parameters.ts";
import type { RunManager } from "../run/manager/manager.ts";
import { createRunOutlines, type RunOutline } from "../run/manager/run_outlines.ts";
import { requireLabelKey, requireQueriedScores } from "./turn_names.ts";
import { ALL_FIELDS, viewTurn } from "../run/events/turn_view.ts";
import { requireRun, turnNotFound } from "../store/runs/require_run.ts";

/** Turns of a conversation that are shown with its last one. */
const LONGEST_CONVERSATION = 100;
/** Attempts in one page of scenarios. */
const MOST_ATTEMPTS = 20_000;

export interface TurnHandlerDeps {
  store: RunStore;
  runs: RunManager;
  summaries: Summaries;
}

/** The handlers of the routes that look into a run, also while it is running. */
export function createTurnHandlers({ store, runs, summaries }: TurnHandlerDeps) {
  const readOutline = createRunOutlines({ store, runs });

  return {
    list: async (_request, { params, url }) => {
      const id = params.id ?? "";
      const query = readQuery(url, TurnListQuery);
      const outline = await readOutline(id);
      requireLabelKey(query, outline);
      const filter = toFilter(query, outline);
      const sortName = url.searchParams.get("sort") ?? "position";
      const names = query.fields;
      const page = await store.queryTurns(id, {
        filter,
        sort: query.sort,
        limit: query.limit,
        withResults: names.length > 0,
        ...(query.cursor && { after: readTurnCursor(query.cursor, sortName) }),
      });
      const isFirst = query.cursor === undefined;
      if (isFirst) await requireQueriedScores(query, { id, store, outline, turns: page.turns });
      const total = isFirst && filter.text === undefined
        ? await store.countTurns(id, filter)
        : null;
      const view = {
        outline,
        threshold: query.threshold,
        fields: { names, maxChars: query.max_chars },
      };
      const { next } = page;
      return Response.json({
        turns: page.turns.map((turn) => viewTurn(turn, view)),
        total,
        next_cursor: next &&
          writeCursor([sortName, next.value, next.scenario, next.attempt, next.turn]),
      });
    },

    show: async (_request, { params }) => {
      const id = params.id ?? "";
      const { scenario, attempt, turn } = readParams(params, TurnPath);
      const outline = await readOutline(id);
      const place = { scenario, attempt: attempt - 1, turn };
      const conversation = await store.conversation(id, place, LONGEST_CONVERSATION);
      const last = conversation.at(-1);
      if (last?.turn !== turn) throw turnNotFound(id, { scenario, attempt, turn });
      const view = { outline, fields: { names: [ALL_FIELDS] } };
      const { interaction, ...row } = viewTurn(last, view);
      return Response.json({
        run_id: id,
        ...row,
        pass_threshold: outline.passThreshold,
        description: outline.scenarios[scenario]?.description ?? "",
        interaction,
        conversation: conversation.map((turn) =>
          viewTurn(turn, {
            outline,
            fields: { names: ["user_message", "agent_reply", "error"] },
          })
        ),
        omitted: conversation[0]!.turn,
      });
    },

    summary: async (_request, { params }) => {
      const id = params.id ?? "";
      const run = runs.active(id)?.run ?? await requireRun(store, id);
      return Response.json(await summaries.summary(run));
    },

    scenarios: async (_request, { params, url }) => {
      const id = params.id ?? "";
      const query = readQuery(url, ScenarioListQuery);
      const outline = await readOutline(id);
      const [, from = 0] = query.cursor ?? [];
      const limit = Math.min(query.limit, Math.ceil(MOST_ATTEMPTS / outline.attempts));
      const to = Math.min(from + limit, outline.scenarios.length);
      const required = outline.required.filter(({ scenario }) => scenario >= from && scenario < to);
      const rows = await store.attemptRows(id, { from, to, required });
      const byScenario = Map.groupBy(rows, ({ scenario }) => scenario);
      return Response.json({
        scenarios: outline.scenarios.slice(from, to).map((scenario, index) => ({
          scenario: from + index,
          scenario_id: scenario.id,
          description: scenario.description,
          attempts: (byScenario.get(from + index) ?? [])
            .map((row) => viewAttempt(row, outline.passThreshold)),
        })),
        total: outline.scenarios.length,
        next_cursor: to < outline.scenarios.length ? writeCursor(["scenario", to]) : null,
      });
    },
  } satisfies Record<string, Handler>;
}

/** `undecided`: scores are missing, or a required check is open, and it depends on them. */
function viewAttempt(
  { attempt, turns, failed, missing, barred, open, mean, bounds }: AttemptRow,
  threshold: number,
) {
  const standing = holdWithBars({ mean, bounds, turns, failed }, {
    threshold,
    isBarred: barred > 0,
    mayBeBarred: open > 0,
  });
  return { attempt_id: attempt + 1, turns, failed, missing, barred, mean, standing };
}

function toFilter(query: TurnListQuery, outline: RunOutline): TurnFilter {
  const { outcome, threshold = outline.passThreshold, score, min, max } = query;
  const { label_key: key, expected, found, scenario, scenario_id, attempt_id, turn, text } = query;
  const scenarios = scenario_id === undefined
    ? scenario === undefined ? undefined : [scenario]
    : outline.scenarios.flatMap(({ id }, index) =>
      id === scenario_id && (scenario === undefined || scenario === index) ? [index] : []
    );
  return {
    ...(outcome.length > 0 && { outcome: { oneOf: outcome, threshold } }),
    ...((min !== undefined || max !== undefined) && {
      score: { name: score, ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
    }),
    ...(key !== undefined && {
      label: {
        key,
        ...(expected !== undefined && { expected }),
        ...(found !== undefined && { found }),
      },
    }),
    ...(scenarios && { scenarios }),
    ...(attempt_id !== undefined && { attempt: attempt_id - 1 }),
    ...(turn !== undefined && { turn }),
    ...(text !== undefined && { text }),
  };
}

function readTurnCursor(
  [sort, value, scenario, attempt, turn]: NonNullable<TurnListQuery["cursor"]>,
  wanted: string,
): TurnCursor {
  if (sort !== wanted) throw wrongCursor(sort);
  // PostgreSQL compares a column of integers with integers only.
  if (/^-?seq$/.test(sort) && !z.int32().nullable().safeParse(value).success) throw forgedCursor();
  return { value, scenario, attempt, turn };
}
