import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router.ts";
import { wantsEvents } from "../../shared/http/headers.ts";
import { jsonAnswer, orEvents } from "../../shared/service/ops/api_description.ts";
import { PairedScenarioPage, PairedTurnPage } from "./schemas/turn_schemas.ts";
import {
  BAD_QUERY,
  comparedRuns,
  decide_by,
  described,
  detail,
  fileAnswer,
  flag,
  lastEventId,
  min_difference,
  paging,
  selected,
  selectionOf,
} from "./route_parts.ts";
import type { RunReader } from "../store/store.ts";
import { cursor, writeCursor, wrongCursor } from "../../shared/http/cursor.ts";
import { type BodyLimits, readJson, readQuery } from "../../shared/http/body.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import { HEADLINE } from "../figures/passing.ts";
import { listPairs, type PairListQuery, type PairLists } from "../figures/pair_lists.ts";
import { type Comparer, Comparison, comparisonInDetail } from "../figures/compare_stored.ts";
import { compareByJudge, Preference, requireJudge } from "../figures/judge_preference.ts";
import { ComparisonExportQuery, createComparisonExport, FORMATS } from "./export_handlers.ts";
import { exportFormats } from "../report/export_formats.ts";
import { logStreamEnd } from "../run/event_response.ts";
import { LAST_EVENT } from "../run/event_stream.ts";
import type { RunManager } from "../run/manager.ts";
import { groupEventStream } from "./group_events.ts";
import { GROUP_EVENTS } from "./schemas/run_schemas.ts";

interface CompareDeps {
  store: RunReader;
  runs: RunManager;
  comparer: Comparer;
  scoring: ScoringPorts;
  bodyLimits: BodyLimits;
}

/** `change` is the size of the difference; `-change` begins with what changed most. */
const PAIR_SORTS = [
  "position",
  "difference",
  "-difference",
  "change",
  "-change",
] as const;
type PairSort = (typeof PAIR_SORTS)[number];

const PairQuery = z.object({
  ...comparedRuns,
  score: described(z.string().min(1).default(HEADLINE), "`overall` unless given."),
  sort: described(
    z.enum(PAIR_SORTS).default("position"),
    "`position` unless given. `change` is the size of the difference; with `-` in front: descending.",
  ),
  ...paging(cursor(z.tuple([z.string(), z.int().min(0)])), { usual: 200, most: 1_000 }),
});

/** Comparisons whose lists are kept for the next page. */
const KEPT = 2;

/** `GET /compare/scenarios` and `/turns`: all that two runs share, in pages. */
function createPairHandlers({ store }: { store: RunReader }) {
  const read = createPairReader(store);

  function handler(part: keyof PairLists): Handler {
    return async (_request, { url }) => {
      const { sort, cursor: given, limit, ...query } = readQuery(url, PairQuery);
      const [name, from] = given ?? [sort, 0];
      if (name !== sort) throw wrongCursor(name);
      const rows = inOrder<PairLists[typeof part][number]>((await read(query))[part], sort);
      const end = from + limit;
      return Response.json({
        [part]: rows.slice(from, end),
        total: rows.length,
        next_cursor: end < rows.length ? writeCursor([sort, end]) : null,
      });
    };
  }

  return { scenarios: handler("scenarios"), turns: handler("turns") };
}

function inOrder<T extends { difference: number }>(rows: T[], sort: PairSort): T[] {
  if (sort === "position") return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  const value = sort.endsWith("change")
    ? ({ difference }: T) => Math.abs(difference)
    : ({ difference }: T) => difference;
  return rows.toSorted((a, b) => sign * (value(a) - value(b)));
}

/** Reading two whole runs takes long, so the lists of runs that have ended are kept. */
function createPairReader(store: RunReader): (query: PairListQuery) => Promise<PairLists> {
  const kept = new Map<string, PairLists>();
  return async (query) => {
    const records = [await store.getRecord(query.baseline), await store.getRecord(query.candidate)];
    const ends = records.map((record) => record?.finishedAt ?? null);
    const key = JSON.stringify([query.baseline, query.candidate, query.score, ...ends]);
    const known = kept.get(key);
    if (known) return known;
    const lists = await listPairs(store, query);
    if (ends.includes(null)) return lists;
    kept.set(key, lists);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
    return lists;
  };
}

const CompareQuery = z.object({
  ...selected,
  decide_by,
  min_difference,
  detail,
  pairs: flag(true, "`false`: without verdicts, which read all turns of the runs."),
});

/** `GET /compare`: several runs side by side, and which is better; of a group also as events. */
function createCompareHandler({ comparer, runs }: CompareDeps): Handler {
  return async (request, context) => {
    const { detail, pairs, ...query } = readQuery(context.url, CompareQuery);
    const selection = selectionOf(query);
    if ("group" in selection && wantsEvents(request)) {
      const { group: groupId } = selection;
      await comparer.runs(selection);
      // 204 tells `EventSource` not to reconnect.
      if (request.headers.get("last-event-id") === LAST_EVENT) {
        return new Response(null, { status: 204 });
      }
      const stream = groupEventStream({ comparer, runs, groupId, client: request.signal });
      logStreamEnd(stream, { context });
      return stream.response;
    }
    const comparison = await comparer.compare(selection, {
      decideBy: query.decide_by,
      minDifference: query.min_difference,
      withPairs: pairs,
    });
    return Response.json(comparisonInDetail(comparison, detail));
  };
}

const JudgeInput = z.strictObject({
  baseline: z.string().min(1).meta({ description: "The id of a run." }),
  candidate: z.string().min(1).meta({ description: "The id of a run." }),
  decide_by: z.string().min(1).optional().meta({
    description: "The score that decides; `overall` if unset.",
  }),
  min_difference: z.number().min(0).max(1).optional().meta({
    description: "The smallest difference that matters.",
  }),
});

/** A comparison, and beside its verdict that of the judge. */
const JudgedComparison = Comparison.extend({ preference: Preference })
  .meta({ id: "JudgedComparison" });

/** `POST /compare`: the same, and the judge says which replies are better, at its price. */
function createJudgeHandler({ store, comparer, scoring, bodyLimits }: CompareDeps): Handler {
  return async (request) => {
    const { decide_by: decideBy, min_difference: minDifference, ...ids } = await readJson(
      request,
      JudgeInput,
      bodyLimits,
    );
    const judge = requireJudge(scoring.judge);
    const selection = { runs: [ids.baseline, ids.candidate] };
    const compared = await comparer.compare(selection, { decideBy, minDifference });
    const preference = await compareByJudge(store, ids, { judge, signal: request.signal });
    return Response.json({ ...comparisonInDetail(compared, undefined), preference });
  };
}

const NOT_FOUND = { 404: "`not_found`: there is no such run" };
const CONFLICT = { 409: "`conflict`: a run is not finished" };

export function createCompareRoutes(deps: CompareDeps): Route[] {
  const pairs = createPairHandlers(deps);
  return [
    {
      method: "GET",
      path: "/compare",
      summary: "Several runs: their scores, their costs, and which is better",
      index: {
        query: "runs={id},{id}|group={id}",
        text: "several runs: scores, costs, and which is better",
      },
      params: { query: CompareQuery, header: lastEventId },
      answers: {
        200: orEvents(
          jsonAnswer("The runs, and the verdict on each two of them.", Comparison),
          `Of a group: ${GROUP_EVENTS}`,
        ),
        204: { description: "All events were sent already: do not reconnect." },
      },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: createCompareHandler(deps),
    },
    {
      method: "GET",
      path: "/compare/export",
      summary: "A comparison as a file",
      index: { query: `runs={id},{id}|group={id}&format=${FORMATS.join("|")}` },
      params: { query: ComparisonExportQuery },
      answers: { 200: fileAnswer(exportFormats, Comparison) },
      problems: { ...BAD_QUERY, ...NOT_FOUND, ...CONFLICT },
      handler: createComparisonExport(deps),
    },
    {
      method: "POST",
      path: "/compare",
      summary: "Is one run better than another, also by the judge?",
      index: { text: "the same, and which replies the judge prefers" },
      body: {
        schema: JudgeInput,
        example: { baseline: "0198c0de-…", candidate: "0198c0df-…" },
      },
      answers: {
        200: jsonAnswer("The comparison, and the judge's verdict beside it.", JudgedComparison),
      },
      problems: {
        400: "`invalid_request`: no judge is configured, or the runs share too many turns",
        ...NOT_FOUND,
      },
      handler: createJudgeHandler(deps),
    },
    {
      method: "GET",
      path: "/compare/scenarios",
      summary: "Every scenario that two runs share, with its score in both",
      index: { query: "baseline={id}&candidate={id}" },
      params: { query: PairQuery },
      answers: { 200: jsonAnswer("A page of them.", PairedScenarioPage) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: pairs.scenarios,
    },
    {
      method: "GET",
      path: "/compare/turns",
      summary: "Every turn that two runs share, with its score in both",
      index: { query: "baseline={id}&candidate={id}" },
      params: { query: PairQuery },
      answers: { 200: jsonAnswer("A page of them.", PairedTurnPage) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: pairs.turns,
    },
  ];
}
