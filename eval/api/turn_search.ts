import { z } from "zod";
import { readQuery } from "../../shared/http/body/body.ts";
import { cursor, writeCursor } from "../../shared/http/body/cursor.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import { type ReadOutline, type TurnRow, viewTurn } from "../run/events/turn_view.ts";
import type { RunCursor, TurnCursor, TurnQueryPage } from "../store/runs/list_query.ts";
import type { RunReader } from "../store/store.ts";
import { paging } from "./route_parts.ts";
import type { TurnSearch } from "./schemas/turn_schemas.ts";
import { SearchedText } from "./turn_list_query.ts";

/** Turns of one run that are shown, and how much of their texts. */
const FOUND_PER_RUN = 3;
const EXCERPT = 600;
/** After this time a search answers with what it has found. */
const SEARCH_MS = 2_000;

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

/** `GET /turns`: the turns of all runs that contain a text. */
export function createTurnSearch(
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
