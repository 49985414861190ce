import { Detail } from "../results/detail.ts";
import { AgreementLabel } from "../schemas/interaction_result.ts";
import { z } from "zod";
import { list } from "../../shared/config/config.ts";
import { cursor } from "../../shared/http/body/cursor.ts";
import { type IndexedTurn, RUN_SORTS, TURN_OUTCOMES } from "../store/runs/lists/list_query.ts";
import { RUN_STATUSES } from "../store/runs/run_record.ts";
import { invalidParameter } from "../../shared/errors.ts";
import { HEADLINE } from "../results/passing.ts";
import type { RunStore } from "../store/store.ts";
import { facetName } from "../store/turns/turn_facets.ts";
import type { RunOutline } from "../run/manager/run_outlines.ts";

/** Longer texts are not searched for. */
const LONGEST_TEXT = 1_000;
const LONGEST_NAME = 256;

/** What a column of PostgreSQL's type `integer` can be compared with. */
export const LARGEST_INTEGER = 2 ** 31 - 1;

const Position = z.coerce.number().int().min(0).max(LARGEST_INTEGER);
const AttemptId = z.coerce.number().int().min(1).max(LARGEST_INTEGER);
const Share = z.coerce.number().min(0).max(1);

/** Databases cannot look for a NUL. */
const SearchedText = z.string().max(LONGEST_TEXT).refine((text) => !text.includes("\0"), {
  error: "must not contain NUL",
});
const Text = SearchedText.transform((text) => text === "" ? undefined : text).optional();

/** `-name` sorts downwards. */
function sortOf<T extends string>(names: readonly T[], initial: `-${T}` | T) {
  const both = names.flatMap((name) => [name, `-${name}` as const]);
  return z.enum(both).default(initial as never).transform((sort) => ({
    by: sort.replace(/^-/, "") as T,
    isDescending: sort.startsWith("-"),
  }));
}

const SortValue = z.union([z.string(), z.number(), z.null()]);

/** The query of `GET /runs`. */
export const RunListQuery = z.object({
  test_name: z.string().optional(),
  model_id: z.string().optional(),
  status: z.enum(RUN_STATUSES).optional(),
  group: z.string().optional(),
  text: Text,
  sort: sortOf(RUN_SORTS, "-created_at"),
  cursor: cursor(z.tuple([z.string(), z.string(), SortValue])).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** The query of `GET /turns`. */
export const TurnSearchQuery = z.object({
  text: SearchedText.min(1),
  cursor: cursor(z.tuple([z.string()])).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

/** The query of `GET /runs/{id}`. */
export const RunQuery = z.object({
  /** `false` leaves out the result, which may have megabytes. */
  result: z.stringbool().default(true),
  detail: Detail,
});

/** What turns can be sorted by, beside their scores. */
const OWN_SORTS = ["position", "seq", "latency_ms", "tokens"] as const;

const TurnSort = z.string().max(LONGEST_NAME).refine((sort) => !["", "-"].includes(sort), {
  error: `must be ${OWN_SORTS.join(", ")} or a score of the run`,
}).default("position").transform((sort) => {
  const isDescending = sort.startsWith("-");
  const name = isDescending ? sort.slice(1) : sort;
  const by = OWN_SORTS.find((own) => own === name);
  return by ? { by, isDescending } : { by: "score" as const, name, isDescending };
});

/** The query of `GET /runs/{id}/turns`. */
export const TurnListQuery = z.object({
  sort: TurnSort,
  cursor: cursor(
    z.tuple([z.string(), z.number().nullable(), z.int32(), z.int32(), z.int32()]),
  ).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  /** Fields of an interaction to add to each row, separated by commas; `all` for all. */
  fields: list().refine((names) => names.length <= 50, { error: "must be 50 names at most" }),
  /** Cuts the texts of these fields. */
  max_chars: z.coerce.number().int().min(1).max(1_000_000).optional(),
  outcome: list().pipe(z.array(z.enum(TURN_OUTCOMES))),
  threshold: Share.optional(),
  score: z.string().min(1).max(LONGEST_NAME).default("overall"),
  min: z.coerce.number().optional(),
  max: z.coerce.number().optional(),
  label_key: z.string().max(LONGEST_NAME).optional(),
  expected: z.string().max(LONGEST_NAME).optional(),
  found: z.string().max(LONGEST_NAME).optional(),
  scenario: Position.optional(),
  scenario_id: z.string().max(LONGEST_NAME).optional(),
  attempt_id: AttemptId.optional(),
  turn: Position.optional(),
  text: Text,
  latency_min: z.coerce.number().min(0).optional(),
  latency_max: z.coerce.number().min(0).optional(),
  agreement: AgreementLabel.optional(),
  graded: z.stringbool().optional(),
  baseline: z.string().max(LONGEST_NAME).optional(),
  change: Share.default(0.1),
  siblings: z.stringbool().default(false),
}).superRefine(({ label_key, expected, found }, context) => {
  if (label_key !== undefined || (expected === undefined && found === undefined)) return;
  context.addIssue({
    code: "custom",
    path: ["label_key"],
    message: "is required with expected or found",
  });
});
export type TurnListQuery = z.infer<typeof TurnListQuery>;

/** The path of one turn: positions as in the rows of the list. */
export const TurnPath = z.object({
  scenario: Position,
  attempt: AttemptId,
  turn: Position,
});

/** The query of `GET /runs/{id}/scenarios`. */
export const ScenarioListQuery = z.object({
  sort: z.enum(["position", "stability"]).default("position"),
  cursor: cursor(z.tuple([z.enum(["scenario", "stability"]), z.int32().min(0)])).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

/** Throws 400 if the query has a metadata key that no turn of the run has. */
export function requireLabelKey({ label_key: key }: TurnListQuery, outline: RunOutline): void {
  if (key === undefined || outline.metadataKeys.has(facetName(key))) return;
  throw invalidParameter("label_key", "must be a metadata key of the run");
}

/**
 * Throws 400 if the query has a score that no turn of the run has. `turns` are those that were
 * found: only if they lack it, more is read. A run without turns may yet have any score.
 */
export async function requireQueriedScores(
  { sort, score }: TurnListQuery,
  { id, store, outline, turns }: {
    id: string;
    store: RunStore;
    outline: RunOutline;
    turns: IndexedTurn[];
  },
): Promise<void> {
  if (sort.by === "score" && !await isKnown(sort.name)) {
    throw invalidParameter("sort", `must be ${OWN_SORTS.join(", ")} or a score of the run`);
  }
  if (!await isKnown(score)) throw invalidParameter("score", "must be a score of the run");

  async function isKnown(name: string): Promise<boolean> {
    const own = facetName(name);
    const hasIt = ({ facets }: IndexedTurn) => Object.hasOwn(facets.scores, own);
    if (name === HEADLINE || turns.some(hasIt)) return true;
    if (outline.metadataKeys.values().some((key) => facetName(`${key}_match`) === own)) return true;
    const first = await store.queryTurns(id, {
      filter: {},
      sort: { by: "position", isDescending: false },
      limit: 1,
      withResults: false,
    });
    // A turn has all scores of its batch but the matches of other keys, `null` if they do not apply.
    if (first.turns.every(hasIt)) return true;
    return await store.countTurns(id, { score: { name } }) > 0;
  }
}
