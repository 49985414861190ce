import { batch, signal } from "@preact/signals";
import { ApiProblem } from "../../../../shared/pages/api_problem.ts";
import type { TurnPage } from "../../../http/schemas/turn_schemas.ts";
import type { TurnRow } from "../../../run/turn_view.ts";
import { type Parameters, source } from "../../source.ts";
import { placeOf } from "../../words.ts";
import { FAILING, readLines } from "./turn_query.ts";

/** The first page is small, so that it arrives at once; large ones follow. */
const FIRST_PAGE = 60;
const PAGE = 250;
/** What a row shows of a turn. */
const FIELDS = "user_message,reference_reply,agent_reply,error,wrong_values";
/** Characters of a text in a row of few lines, and in one that shows all of it. */
const EXCERPT = 600;
const WHOLE = 20_000;

/** The beginning of a list that was asked for ahead of the view that shows it. */
let ahead: { of: string; page: Promise<TurnPage> } | undefined;

/** Asks for the first turns now, so that they need not wait until the view above them is there. */
export function askAhead(runId: string, parameters: Parameters): void {
  const page = readPage(runId, parameters, undefined);
  page.catch(() => {}); // reported by the list that takes the page
  ahead = { of: keyOf(runId, parameters), page };
}

/** Takes what was asked ahead: once, because it becomes outdated. */
function takeAhead(runId: string, parameters: Parameters): Promise<TurnPage> | undefined {
  const taken = ahead;
  ahead = undefined;
  return taken?.of === keyOf(runId, parameters) ? taken.page : undefined;
}

function keyOf(runId: string, parameters: Parameters): string {
  return JSON.stringify([runId, parameters]);
}

/** Without a cursor, the first page. */
function readPage(
  runId: string,
  parameters: Parameters,
  cursor: string | undefined,
): Promise<TurnPage> {
  return source.turns(runId, {
    ...parameters,
    fields: FIELDS,
    siblings: "true",
    max_chars: readLines() === "all" ? WHOLE : EXCERPT,
    limit: cursor === undefined ? FIRST_PAGE : PAGE,
    cursor,
  });
}

/** What `createTurnList` makes. */
export type TurnList = ReturnType<typeof createTurnList>;

/** Turns of a run, fetched page by page as the person scrolls. */
export function createTurnList(runId: string, parameters: Parameters) {
  const rows = signal<TurnRow[]>([]);
  /** How many there are; `null` if only the end of the list tells. */
  const total = signal<number | null>(null);
  const isComplete = signal(false);
  const problem = signal<ApiProblem | undefined>(undefined);
  let cursor: string | undefined;
  let wanted = 0;
  let isReading = false;
  let isStopped = false;

  async function read(): Promise<void> {
    const isFirst = cursor === undefined;
    const page = await (isFirst && takeAhead(runId, parameters) ||
      readPage(runId, parameters, cursor));
    if (isStopped) return;
    cursor = page.next_cursor ?? undefined;
    batch(() => {
      rows.value = isFirst ? page.turns : [...rows.value, ...page.turns];
      if (isFirst) total.value = page.total;
      isComplete.value = cursor === undefined;
      problem.value = undefined;
    });
  }

  return {
    rows,
    total,
    isComplete,
    problem,
    /** Fetches until this row is there, or the list has ended. */
    async reach(index: number): Promise<void> {
      wanted = Math.max(wanted, index);
      if (isReading) return;
      isReading = true;
      try {
        while (!isStopped && !isComplete.value && rows.value.length <= wanted) await read();
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        problem.value = error;
      } finally {
        isReading = false;
      }
    },
    stop: () => void (isStopped = true),
  };
}

/** Of a search, which needs no texts. */
const SEARCHED = 1_000;

/**
 * The next or previous turn in the order of the list, within its filters: a failing one, unless the
 * list is of the replies without a grade.
 */
export async function findNeighbour(
  runId: string,
  { from, step, parameters }: { from: string; step: 1 | -1; parameters: Parameters },
): Promise<string | undefined> {
  const places: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.turns(runId, {
      ...parameters,
      outcome: parameters.outcome ?? (parameters.graded ? undefined : FAILING),
      limit: SEARCHED,
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
