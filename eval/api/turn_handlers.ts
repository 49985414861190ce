import { inDetail } from "../results/detail.ts";
import { z } from "zod";
import { cursor, forgedCursor, writeCursor, wrongCursor } from "../../shared/http/body/cursor.ts";
import { readParams, readQuery } from "../../shared/http/body/body.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { Summaries } from "../results/summaries.ts";
import { holdWithBars } from "../results/passing.ts";
import type {
  AttemptRow,
  RunCursor,
  TurnCursor,
  TurnFilter,
  TurnOutcome,
  TurnQueryPage,
} from "../store/runs/list_query.ts";
import type { RunStore } from "../store/store.ts";
import type { TurnSearch } from "./schemas/turn_schemas.ts";
import { described, DetailQuery, paging, turnPath } from "./route_parts.ts";
import type { RunManager } from "../run/manager/manager.ts";
import {
  requireLabelKey,
  requireQueriedScores,
  SearchedText,
  TurnListQuery,
} from "./turn_list_query.ts";
import {
  ALL_FIELDS,
  createRunOutlines,
  type RunOutline,
  type TurnRow,
  viewTurn,
} from "../run/events/turn_view.ts";
import { requireRecord, turnNotFound } from "../store/runs/require_run.ts";

/** Turns of a conversation that are shown with its last one. */
const LONGEST_CONVERSATION = 100;
/** Attempts in one page of scenarios. */
const MOST_ATTEMPTS = 20_000;
/** Turns of one run that a search of all runs shows, and how much of their texts. */
const FOUND_PER_RUN = 3;
const EXCERPT = 600;
/** After this time a search of all runs answers with what it has found. */
const SEARCH_MS = 2_000;
/** Attempts at a turn that its row shows. */
const MOST_SIBLINGS = 20;

/** The query of `GET /turns`. */
export const TurnSearchQuery = z.object({
  text: SearchedText.min(1).meta({
    description: "In the message, the reply or the reference, in any letter case.",
  }),
  ...paging(cursor(z.tuple([z.string()])), {
    usual: 20,
    most: 100,
    description: "Runs with such turns; 20 if unset. A page may have fewer, also none.",
  }),
});

/** The query of `GET /runs/{id}/scenarios`. */
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
export function createTurnHandlers({ store, runs, summaries }: TurnHandlerDeps) {
  const readOutline = createRunOutlines({ store, runs });

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
    const required = outline.required.filter(({ scenario }) => scenario >= from && scenario < to);
    const rows = await store.attemptRows(id, { from, to, required });
    const own = rows.filter(({ attempt }) => attempt < outline.attempts);
    const views = own.map((row) => viewAttempt(row, outline.passThreshold));
    return Map.groupBy(views, ({ scenario }) => scenario);
  }

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
        sort: query.sort,
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

    search: async (_request, { url }) => {
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
    },

    show: async (_request, { params }) => {
      const { id, scenario, attempt, turn } = readParams(params, turnPath);
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
          description: outline.scenarios[place]!.description,
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

/** The `standing` is `missing` if it depends on missing scores or undecided required checks. */
function viewAttempt(
  { scenario, attempt, turns, failed, missing, barred, open, mean, bounds }: AttemptRow,
  threshold: number,
) {
  const standing = holdWithBars({ mean, bounds, turns, failed }, {
    threshold,
    isBarred: barred > 0,
    mayBeBarred: open > 0,
  });
  return { scenario, attempt_id: attempt + 1, turns, failed, missing, barred, mean, standing };
}

function toFilter(query: TurnListQuery, outline: RunOutline): TurnFilter {
  const { outcome, threshold = outline.passThreshold, score, min, max } = query;
  const { label_key: key, expected, found, scenario, scenario_id, attempt_id, turn, text } = query;
  const { latency_min, latency_max, agreement, graded, counted, baseline, change } = query;
  const scenarios = scenario_id === undefined
    ? scenario === undefined ? undefined : [scenario]
    : outline.scenarios.flatMap(({ id }, index) =>
      id === scenario_id && (scenario === undefined || scenario === index) ? [index] : []
    );
  return {
    outcome: outcome.length > 0 ? { oneOf: outcome, threshold } : undefined,
    score: min === undefined && max === undefined ? undefined : { name: score, min, max },
    label: key === undefined ? undefined : { key, expected, found },
    scenarios,
    attempt: attempt_id && attempt_id - 1,
    attempts: counted && outline.history === "both"
      ? { below: outline.attempts }
      : counted === false
      ? { from: outline.attempts }
      : undefined,
    turn,
    text: text || undefined,
    latency: { min: latency_min, max: latency_max },
    agreement,
    graded,
    changed: baseline === undefined ? undefined : { from: baseline, by: change },
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
