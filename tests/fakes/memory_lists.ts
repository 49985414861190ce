import type {
  IndexedTurn,
  SummaryQueries,
  TurnFilter,
  TurnQueries,
  TurnSort,
} from "../../eval/store/runs/list_query.ts";
import { isInRanges, type TurnPosition } from "../../eval/store/turns/position.ts";
import type { StoredRun } from "../../eval/store/runs/run_record.ts";
import type { RunFilter, RunPage } from "../../eval/store/store.ts";
import type { StoredTurn } from "../../eval/store/turns/turn_record.ts";
import { findsText } from "../../eval/store/turns/text_search.ts";
import { facetName, readFacets } from "../../eval/store/turns/turn_facets.ts";
import { outcomeOf } from "../../eval/results/outcome.ts";

type Numbered = StoredTurn & { seq: number };

const byPosition = (a: TurnPosition, b: TurnPosition) =>
  a.scenario - b.scenario || a.attempt - b.attempt || a.turn - b.turn;

/** The lists of a store of plain maps: everything is filtered and sorted in memory. */
export function memoryTurnQueries(turnsOf: (id: string) => Numbered[]): TurnQueries {
  const find = (id: string, filter: TurnFilter) => turnsOf(id).filter((turn) => fits(turn, filter));
  return {
    queryTurns(id, { filter, sort, after, limit, withResults }) {
      const order = (a: Numbered, b: Numbered) => compare(a, b, sort);
      const found = find(id, filter).sort(order);
      const start = after
        ? found.findIndex((turn) => compareKeys(keyOf(turn, sort), after, sort) > 0)
        : 0;
      const rest = start < 0 ? [] : found.slice(start);
      const page = rest.slice(0, limit);
      const next = rest.length > limit ? keyOf(page.at(-1)!, sort) : null;
      return Promise.resolve({ turns: page.map((turn) => toIndexed(turn, withResults)), next });
    },
    countTurns: (id, filter) => Promise.resolve(find(id, filter).length),
    conversation(id, { scenario, attempt, turn: lastTurn }, limit) {
      const found = find(id, { scenarios: [scenario], attempt, lastTurn }).sort(byPosition);
      return Promise.resolve(found.slice(-limit).map((turn) => toIndexed(turn, true)));
    },
    attemptRows(id, { from, to, required = [] }) {
      const inRange = turnsOf(id).filter(({ scenario }) => scenario >= from && scenario < to);
      const groups = Map.groupBy(
        inRange.sort(byPosition),
        (turn) => `${turn.scenario}/${turn.attempt}`,
      );
      return Promise.resolve([...groups.values()].map((group) => {
        const values = group.map(({ result }) => result.scores.overall)
          .filter((value) => typeof value === "number");
        return {
          scenario: group[0]!.scenario,
          attempt: group[0]!.attempt,
          turns: group.length,
          failed: group.filter(({ result }) => result.error).length,
          missing: group.filter(({ result }) =>
            result.missing_scores?.overall !== undefined
          ).length,
          barred: group.filter(({ result }) => readFacets(result).barred_by).length,
          open: group.filter((turn) =>
            readFacets(turn.result).may_be_barred ||
            (turn.result.error && isInRanges(turn, required))
          ).length,
          mean: values.length === 0 ? null : mean(values),
          bounds: group.some(({ result }) => result.missing_scores?.overall !== undefined)
            ? [mean(boundsOf(group, 0)), mean(boundsOf(group, 1))]
            : null,
        };
      }));
    },
  };
}

function mean(values: number[]): number {
  return values.reduce((a, b) => a + b) / values.length;
}

/** `overall` of each turn, or the least or most that it can be. */
function boundsOf(group: Numbered[], end: 0 | 1): number[] {
  return group.flatMap(({ result }) => {
    if (result.missing_scores?.overall !== undefined) return [result.overall_bounds?.[end] ?? end];
    const { overall } = result.scores;
    return typeof overall === "number" ? [overall] : [];
  });
}

function fits(turn: Numbered, filter: TurnFilter): boolean {
  const { outcome, score, label, scenarios, attempt, text } = filter;
  const facets = readFacets(turn.result);
  const value = score && facets.scores[score.name];
  const labels = label && facets.labels[label.key];
  return (!outcome || outcome.oneOf.includes(outcomeOf(turn.result, outcome.threshold))) &&
    (!score ||
      (typeof value === "number" && value >= (score.min ?? 0) && value <= (score.max ?? 1))) &&
    (!label || (labels !== undefined && (label.expected ?? labels.expected) === labels.expected &&
      (label.found ?? labels.found) === labels.found)) &&
    (!scenarios || scenarios.includes(turn.scenario)) &&
    (attempt === undefined || attempt === turn.attempt) &&
    (filter.turn === undefined || filter.turn === turn.turn) &&
    (filter.lastTurn === undefined || turn.turn <= filter.lastTurn) &&
    (text === undefined || findsText(turn.result, text));
}

function keyOf(turn: Numbered, sort: TurnSort) {
  const facets = readFacets(turn.result);
  const value = sort.by === "position"
    ? null
    : sort.by === "seq"
    ? turn.seq
    : sort.by === "score"
    ? facets.scores[facetName(sort.name)] ?? null
    : facets[sort.by];
  return { value, scenario: turn.scenario, attempt: turn.attempt, turn: turn.turn };
}

type Key = ReturnType<typeof keyOf>;

function compare(a: Numbered, b: Numbered, sort: TurnSort): number {
  return compareKeys(keyOf(a, sort), keyOf(b, sort), sort);
}

function compareKeys(a: Key, b: Key, sort: TurnSort): number {
  const sign = sort.isDescending ? -1 : 1;
  if (sort.by === "position") return sign * byPosition(a, b);
  if (a.value === null || b.value === null) {
    return Number(a.value === null) - Number(b.value === null) || byPosition(a, b);
  }
  return sign * (a.value - b.value) || byPosition(a, b);
}

function toIndexed(turn: Numbered, withResults: boolean): IndexedTurn {
  const { scenario, attempt, seq, result } = turn;
  return {
    scenario,
    attempt,
    turn: turn.turn,
    seq,
    failed: result.error !== undefined,
    missing: result.missing_scores?.overall !== undefined,
    overall: result.scores.overall ?? null,
    facets: readFacets(result),
    ...(withResults && { resultJson: JSON.stringify(result) }),
  };
}

/** Summaries of runs; those of a run that is resumed are forgotten by `forget`. */
export function memorySummaries(): SummaryQueries & {
  overall(id: string): number | null;
  forget(id: string): void;
} {
  const kept = new Map<string, { overall: number | null; headline: string; summary: string }>();
  return {
    headlines: (ids) =>
      Promise.resolve(
        new Map(ids.flatMap((id) => kept.has(id) ? [[id, kept.get(id)!.headline]] : [])),
      ),
    summary: (id) => Promise.resolve(kept.get(id)?.summary),
    saveSummary: ({ id }, summary) => Promise.resolve(void kept.set(id, summary)),
    overall: (id) => kept.get(id)?.overall ?? null,
    forget: (id) => void kept.delete(id),
  };
}

/** A page of runs; `overall` is a run's headline. */
export function listMemoryRuns(
  runs: StoredRun[],
  filter: RunFilter,
  overall: (id: string) => number | null,
): RunPage {
  const { testName, modelId, status, groupId, text, cursor, limit } = filter;
  const { by, isDescending } = filter.sort ?? { by: "created_at", isDescending: true };
  const sign = isDescending ? -1 : 1;
  const valueOf = (run: StoredRun) => {
    if (by === "created_at") return null;
    if (by === "overall") return overall(run.id);
    if (by === "duration") return run.finishedAt === null ? null : run.finishedAt - run.createdAt;
    return by === "test_name" ? run.testName : by === "model_id" ? run.modelId : run.status;
  };
  const order = (a: { id: string; value: unknown }, b: { id: string; value: unknown }) => {
    const newer = a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
    if (by === "created_at") return isDescending ? newer : -newer;
    if (a.value === null || b.value === null) {
      return Number(a.value === null) - Number(b.value === null) || newer;
    }
    const less = (a.value as string) < (b.value as string);
    return a.value === b.value ? newer : sign * (less ? -1 : 1);
  };
  const found = runs
    .filter((run) =>
      (testName === undefined || run.testName === testName) &&
      (modelId === undefined || run.modelId === modelId) &&
      (groupId === undefined || run.group?.id === groupId) &&
      (status === undefined || run.status === status) &&
      (text === undefined || [run.testName, run.modelId, run.id]
        .some((name) => name.toLowerCase().includes(text.toLowerCase())))
    )
    .map((run) => ({ run, id: run.id, value: valueOf(run) }))
    .sort(order)
    .filter((row) => !cursor || order(row, cursor) > 0);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    runs: page.map(({ run: { request: _, ...record } }) => ({
      ...record,
      testName: record.testName.length > 1000
        ? `${record.testName.slice(0, 1000)}…`
        : record.testName,
    })),
    next: last ? { id: last.id, value: last.value } : null,
  };
}
