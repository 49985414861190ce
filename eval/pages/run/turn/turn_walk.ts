import type { TurnRow } from "../../../run/events/turn_view.ts";
import { type Parameters, source } from "../../source.ts";
import { placeOf } from "../../words.ts";
import { FAILING } from "./turn_query.ts";

const PAGE = 1_000;

/** The next or previous failing turn in the order of the list, within its filters. */
export async function findNeighbour(
  runId: string,
  { from, step, parameters }: { from: string; step: 1 | -1; parameters: Parameters },
): Promise<string | undefined> {
  const places: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.turns(runId, {
      ...parameters,
      outcome: parameters.outcome ?? FAILING,
      limit: PAGE,
      cursor,
    });
    places.push(...page.turns.map((turn: TurnRow) => placeOf(turn)));
    cursor = page.next_cursor ?? undefined;
    const at = places.indexOf(from);
    // From a turn that passes, the next is the first failing one, the previous the last.
    const end = step > 0 ? 0 : places.length - 1;
    const next = at >= 0 ? at + step : cursor ? -1 : end;
    if (next >= 0 && next < places.length) return places[next];
    if (at >= 0 && step < 0) return undefined;
  } while (cursor);
  return undefined;
}
