import { AgreementLabel } from "../test/interaction_result.ts";
import { z } from "zod";
import { cursor, forgedCursor, wrongCursor } from "../../shared/http/cursor.ts";
import {
  type IndexedTurn,
  TURN_OUTCOMES,
  type TurnCursor,
  type TurnFilter,
  type TurnSort,
} from "../store/list_query.ts";
import { invalidParameter } from "../../shared/service/errors.ts";
import { HEADLINE } from "../figures/passing.ts";
import type { RunStore } from "../store/store.ts";
import { facetName } from "../store/turn_record.ts";
import type { RunOutline } from "../run/turn_view.ts";
import { AttemptId, described, flag, paging, Position, Share } from "./route_parts.ts";

/** A text to search for. Databases cannot search for a NUL. */
export const SearchedText = z.string().max(1_000).refine((text) => !text.includes("\0"), {
  error: "must not contain NUL",
});
const Name = z.string().max(256);
const Milliseconds = z.coerce.number().min(0).optional().meta({ description: "In milliseconds." });

const Names = z.string().optional().transform((text = "") =>
  text.split(",").map((name) => name.trim()).filter(Boolean)
);

/** What turns can be sorted by, beside their scores. */
const OWN_SORTS = ["position", "worst", "seq", "latency_ms", "tokens"] as const;

const SortName = Name.refine((sort) => !["", "-"].includes(sort), {
  error: `must be ${OWN_SORTS.join(", ")} or a score of the run`,
}).default("position").transform((sort) => {
  const isDescending = sort.startsWith("-");
  const name = isDescending ? sort.slice(1) : sort;
  const by = OWN_SORTS.find((own) => own === name);
  return by ? { by, isDescending } : { by: "score" as const, name, isDescending };
});

export const TurnListQuery = z.object({
  sort: described(
    SortName,
    "`position`, `seq`, `latency_ms`, `tokens` or a score; with `-` in front: descending. Turns without " +
      "a value come last. `worst`: the lowest attempt at each turn by `overall`, then the others.",
  ),
  ...paging(
    cursor(z.tuple([z.string(), z.number().nullable(), z.int32(), z.int32(), z.int32()])),
    { usual: 100, most: 1_000 },
  ),
  fields: Names.refine((names) => names.length <= 50, { error: "must be 50 names at most" }).meta({
    description: "Fields of an interaction to add to each row, by commas; `all` for all.",
  }),
  max_chars: z.coerce.number().int().min(1).max(1_000_000).optional().meta({
    description: "Cuts the texts of these fields.",
  }),
  outcome: Names.pipe(z.array(z.enum(TURN_OUTCOMES))).meta({
    description: "Any of `passed`, `below`, `failed`, `missing`, `unscored`, by commas.",
  }),
  threshold: Share.optional().meta({
    description: "From which `overall` a turn passes; the run's own if unset.",
  }),
  score: described(
    Name.min(1).default(HEADLINE),
    "What `min` and `max` are about; `overall` unless given.",
  ),
  min: z.coerce.number().optional().meta({ description: "The lowest score." }),
  max: z.coerce.number().optional().meta({ description: "The highest score." }),
  label_key: Name.optional().meta({
    description: "The key of `reference_metadata` that `expected` and `found` are about.",
  }),
  expected: Name.optional().meta({ description: "The label of the reference." }),
  found: Name.optional().meta({ description: "The label of the reply, `(none)` or `(failed)`." }),
  scenario: Position.optional().meta({ description: "Its position in the batch, from 0." }),
  scenario_id: Name.optional().meta({ description: "Its id." }),
  attempt_id: AttemptId.optional().meta({ description: "From 1." }),
  turn: Position.optional().meta({ description: "Its position in the conversation, from 0." }),
  text: SearchedText.optional().meta({
    description: "In the message, the reply or the reference, in any letter case.",
  }),
  latency_min: Milliseconds,
  latency_max: Milliseconds,
  agreement: AgreementLabel.optional().meta({
    description:
      "Whether the reply says what the reference says; a wrong value `contradicts` it, too.",
  }),
  graded: described(z.stringbool().optional(), "Whether a person graded it.", { type: "boolean" }),
  baseline: Name.optional().meta({
    description: "Another run: turns whose `overall` there differs by `change` or more.",
  }),
  change: described(Share.default(0.1), "0.1 unless given."),
  siblings: flag(false, "Adds the outcomes of all attempts at the same turn to each row."),
}).superRefine(({ label_key, expected, found }, context) => {
  if (label_key !== undefined || (expected === undefined && found === undefined)) return;
  context.addIssue({
    code: "custom",
    path: ["label_key"],
    message: "is required with expected or found",
  });
});
export type TurnListQuery = z.infer<typeof TurnListQuery>;

/** A turn that was asked once needs no look at other attempts. */
export function toSort({ sort }: TurnListQuery, { attempts }: RunOutline): TurnSort {
  if (sort.by === "score") return sort;
  const { by, isDescending } = sort;
  if (by !== "worst") return { by, isDescending };
  return attempts > 1
    ? { by, attempts, isDescending }
    : { by: "score", name: HEADLINE, isDescending };
}

/** Throws 400 if the query has a metadata key that no turn of the run has. */
export function requireLabelKey({ label_key: key }: TurnListQuery, outline: RunOutline): void {
  if (key === undefined || outline.metadataKeys.has(facetName(key))) return;
  throw invalidParameter("label_key", "must be a metadata key of the run");
}

/**
 * Throws 400 if the query has a score that no turn of the run has. More is read only if the turns
 * found lack it. A run without turns accepts any score.
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

/** What the query asks of a turn. */
export function toFilter(query: TurnListQuery, outline: RunOutline): TurnFilter {
  const { outcome, threshold = outline.passThreshold, score, min, max } = query;
  const { label_key: key, expected, found, scenario, scenario_id, attempt_id, turn, text } = query;
  const { latency_min, latency_max, agreement, graded, baseline, change } = query;
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
    turn,
    text: text || undefined,
    latency: { min: latency_min, max: latency_max },
    agreement,
    graded,
    changed: baseline === undefined ? undefined : { from: baseline, by: change },
  };
}

/** Throws 400 if the cursor is not one of a list with the sorting `wanted`. */
export function readTurnCursor(
  [sort, value, scenario, attempt, turn]: NonNullable<TurnListQuery["cursor"]>,
  wanted: string,
): TurnCursor {
  if (sort !== wanted) throw wrongCursor(sort);
  // PostgreSQL compares a column of integers with integers only.
  if (/^-?seq$/.test(sort) && !z.int32().nullable().safeParse(value).success) throw forgedCursor();
  return { value, scenario, attempt, turn };
}
