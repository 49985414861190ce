import { z } from "zod";
import { cursor, writeCursor, wrongCursor } from "../../shared/http/body/cursor.ts";
import { readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import { HEADLINE } from "../results/passing.ts";
import type { RunReader } from "../store/store.ts";
import { listPairs, type PairListQuery, type PairLists } from "../compare/pair_lists.ts";

/** `change` is the size of the difference; `-change` begins with what changed most. */
export const PAIR_SORTS = [
  "position",
  "difference",
  "-difference",
  "change",
  "-change",
] as const;
type PairSort = (typeof PAIR_SORTS)[number];

const Query = z.object({
  baseline: z.string().min(1),
  candidate: z.string().min(1),
  score: z.string().min(1).default(HEADLINE),
  sort: z.enum(PAIR_SORTS).default("position"),
  cursor: cursor(z.tuple([z.string(), z.int().min(0)])).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

/** Comparisons whose lists are kept for the next page. */
const KEPT = 2;

/** `GET /runs/compare/scenarios` and `/turns`: all that two runs share, in pages. */
export function createPairHandlers({ store }: { store: RunReader }) {
  const read = createPairReader(store);

  function handler(part: keyof PairLists): Handler {
    return async (_request, { url }) => {
      const { sort, cursor: given, limit, ...query } = readQuery(url, Query);
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

/** Reading two whole runs takes long; those that have ended give the same lists again. */
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
