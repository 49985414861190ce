import { invalidParameter } from "../../shared/errors.ts";
import { HEADLINE } from "../results/passing.ts";
import type { IndexedTurn } from "../store/runs/list_query.ts";
import type { RunStore } from "../store/store.ts";
import { facetName } from "../store/turns/turn_facets.ts";
import { OWN_SORTS, type TurnListQuery } from "./list_parameters.ts";
import type { RunOutline } from "../run/manager/run_outlines.ts";

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
