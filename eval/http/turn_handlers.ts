import { inDetail } from "../figures/detail.ts";
import { z } from "zod";
import { cursor, writeCursor, wrongCursor } from "../../shared/http/cursor.ts";
import { readParams, readQuery } from "../../shared/http/body.ts";
import type { Handler } from "../../shared/http/router.ts";
import type { Summaries } from "../figures/summaries.ts";
import { standingOf } from "../figures/passing.ts";
import type { AttemptRow, TurnOutcome } from "../store/list_query.ts";
import type { RunStore } from "../store/store.ts";
import { described, DetailQuery, paging, turnPath } from "./route_parts.ts";
import type { RunManager } from "../run/manager.ts";
import {
  readTurnCursor,
  requireLabelKey,
  requireQueriedScores,
  toFilter,
  toSort,
  TurnListQuery,
} from "./turn_list_query.ts";
import {
  ALL_FIELDS,
  type ReadOutline,
  type RunOutline,
  type TurnRow,
  viewTurn,
} from "../run/turn_view.ts";
import { requireRecord, turnNotFound } from "../store/require_run.ts";

/** Turns of a conversation that are shown with its last one. */
const LONGEST_CONVERSATION = 100;
/** Attempts in one page of scenarios. */
const MOST_ATTEMPTS = 20_000;
/** Attempts at a turn that its row shows. */
const MOST_SIBLINGS = 20;

export const ScenarioListQuery = z.object({
  sort: described(
    z.enum(["position", "stability"]).default("position"),
    "`stability`: those that pass in some attempts only come first, then those that never pass.",
  ),
  ...paging(cursor(z.tuple([z.enum(["scenario", "stability"]), z.int32().min(0)])), {
    usual: 200,
    most: 1_000,
  }),
});

export interface TurnHandlerDeps {
  store: RunStore;
  runs: RunManager;
  summaries: Summaries;
}

/** The handlers of the routes that look into a run, also while it is running. */
export function createTurnHandlers(
  { store, runs, summaries, readOutline }: TurnHandlerDeps & { readOutline: ReadOutline },
) {
  /** Adds to each turn what became of it in every attempt. */
  async function withSiblings(
    id: string,
    { turns, outline, view }: {
      turns: TurnRow[];
      outline: RunOutline;
      view: Parameters<typeof viewTurn>[1];
    },
  ): Promise<TurnRow[]> {
    if (outline.attempts < 2 || outline.attempts > MOST_SIBLINGS) return turns;
    const scenarios = [...new Set(turns.map(({ scenario }) => scenario))];
    const all = await store.queryTurns(id, {
      filter: { scenarios },
      sort: { by: "position", isDescending: false },
      limit: MOST_ATTEMPTS,
      withResults: false,
    });
    const keyOf = ({ scenario, turn }: { scenario: number; turn: number }) => `${scenario}/${turn}`;
    const outcomes = new Map<string, (TurnOutcome | null)[]>();
    for (const other of all.turns.filter(({ attempt }) => attempt < outline.attempts)) {
      const key = keyOf(other);
      const found = outcomes.get(key) ?? new Array(outline.attempts).fill(null);
      found[other.attempt] = viewTurn(other, view).outcome;
      outcomes.set(key, found);
    }
    return turns.map((turn) => ({ ...turn, attempts: outcomes.get(keyOf(turn)) ?? [] }));
  }

  /** The positions of a run's scenarios, those first that pass in some attempts only. */
  async function byStability(id: string, outline: RunOutline): Promise<number[]> {
    const ranks: number[] = [];
    const step = Math.max(1, Math.floor(MOST_ATTEMPTS / outline.attempts));
    for (let from = 0; from < outline.scenarios.length; from += step) {
      const to = Math.min(from + step, outline.scenarios.length);
      const byScenario = await attemptsOf(id, { outline, from, to });
      for (let scenario = from; scenario < to; scenario++) {
        ranks[scenario] = rankOf(byScenario.get(scenario) ?? []);
      }
    }
    return [...ranks.keys()].sort((a, b) => ranks[a]! - ranks[b]! || a - b);
  }

  /** Attempts beyond the run's were asked after the references: they are no part of the averages. */
  async function attemptsOf(
    id: string,
    { outline, from, to }: { outline: RunOutline; from: number; to: number },
  ) {
    const rows = await store.attemptRows(id, { from, to, threshold: outline.passThreshold });
    const own = rows.filter(({ attempt }) => attempt < outline.attempts);
    const views = own.map(viewAttempt);
    return Map.groupBy(views, ({ scenario }) => scenario);
  }

  return {
    list: async (_request, { params, url }) => {
      const id = params.id ?? "";
      const query = readQuery(url, TurnListQuery);
      const outline = await readOutline(id);
      requireLabelKey(query, outline);
      const filter = toFilter(query, outline);
      if (query.baseline !== undefined) {
        const { scenarios: before } = await readOutline(query.baseline);
        const isSame = (place: number) => before[place]?.id === outline.scenarios[place]?.id;
        filter.scenarios = (filter.scenarios ?? [...outline.scenarios.keys()]).filter(isSame);
      }
      const sortName = url.searchParams.get("sort") ?? "position";
      const names = query.fields;
      const page = await store.queryTurns(id, {
        filter,
        sort: toSort(query, outline),
        limit: query.limit,
        withResults: names.length > 0,
        after: query.cursor && readTurnCursor(query.cursor, sortName),
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
      const turns = page.turns.map((turn) => viewTurn(turn, view));
      return Response.json({
        turns: query.siblings ? await withSiblings(id, { turns, outline, view }) : turns,
        total,
        next_cursor: next &&
          writeCursor([sortName, next.value, next.scenario, next.attempt, next.turn]),
      });
    },

    show: async (_request, { params }) => {
      const { id, scenario, attempt, turn } = readParams(params, turnPath);
      const outline = await readOutline(id);
      const place = { scenario, attempt: attempt - 1, turn };
      const conversation = await store.conversation(id, place, LONGEST_CONVERSATION);
      const last = conversation.at(-1);
      if (last?.turn !== turn) throw turnNotFound(id, place);
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

    summary: async (_request, { params, url }) => {
      const { detail } = readQuery(url, DetailQuery);
      const id = params.id ?? "";
      const run = runs.active(id)?.run ?? await requireRecord(store, id);
      const summary = await summaries.summary(run);
      return Response.json({ ...summary, statistics: inDetail(summary.statistics, detail) });
    },

    scenarios: async (_request, { params, url }) => {
      const id = params.id ?? "";
      const query = readQuery(url, ScenarioListQuery);
      const outline = await readOutline(id);
      const name = query.sort === "stability" ? "stability" : "scenario";
      const [sort = name, first = 0] = query.cursor ?? [];
      if (sort !== name) throw wrongCursor(sort);
      const limit = Math.min(query.limit, Math.ceil(MOST_ATTEMPTS / outline.attempts));
      const total = outline.scenarios.length;
      const end = Math.min(first + limit, total);
      const places = name === "stability"
        ? (await byStability(id, outline)).slice(first, end)
        : Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
      const attempts = new Map<number, ReturnType<typeof viewAttempt>[]>();
      for (const [from, to] of rangesOf(places)) {
        const found = await attemptsOf(id, { outline, from, to });
        for (const [scenario, rows] of found) attempts.set(scenario, rows);
      }
      return Response.json({
        scenarios: places.map((place) => ({
          scenario: place,
          scenario_id: outline.scenarios[place]!.id,
          description: outline.scenarios[place]!.description || outline.scenarios[place]!.question,
          attempts: (attempts.get(place) ?? []).map(({ scenario: _, ...row }) => row),
        })),
        total,
        next_cursor: end < total ? writeCursor([name, end]) : null,
      });
    },
  } satisfies Record<string, Handler>;
}

/** Ranges of neighbouring positions: one query reads each. */
function rangesOf(places: number[]): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const place of places.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === place) last[1]++;
    else ranges.push([place, place + 1]);
  }
  return ranges;
}

/** Mixed results first, the most even ones before the others; then those that never pass. */
function rankOf(attempts: { standing: string }[]): number {
  const passed = attempts.filter(({ standing }) => standing === "passed").length;
  const share = attempts.length === 0 ? 1 : passed / attempts.length;
  return share > 0 && share < 1 ? Math.abs(share - 0.5) : share === 0 ? 1 : 2;
}

function viewAttempt({ scenario, attempt, turns, mean, passed, ...unpassed }: AttemptRow) {
  const { below, failed, missing } = unpassed;
  const counts = { passed, below, failed, missing };
  const outcomes = (["passed", "below", "failed", "missing"] as const)
    .filter((outcome) => counts[outcome] > 0);
  const standing = standingOf(outcomes);
  return { scenario, attempt_id: attempt + 1, turns, ...counts, mean, standing };
}
