import type { ServerSentEventMessage } from "@std/http/server-sent-event-stream";
import type { RunStore, StoredRun, TurnEvent } from "../store/store.ts";
import { requireWhole } from "../store/whole_reader.ts";
import { type ActiveRun, type RunProgress } from "./active_run.ts";
import { waitFor } from "./client_stream.ts";
import { restingProgress } from "./view.ts";

/** Turns told at once; a slow client is never more than this ahead of its own reading. */
const PAGE = 100;
/** Proxies close connections on which nothing is said. */
const KEEP_ALIVE_MS = 15_000;

export interface RunEventsOptions {
  store: RunStore;
  run: StoredRun;
  /** The run if it is under way in this process, asked for again and again. */
  active: () => ActiveRun | undefined;
  /** Settles when a run that waits for its place no longer does; `undefined` if it does not wait. */
  waiting?: () => Promise<void> | undefined;
  /** The last event that the client has seen; 0 for none. */
  afterSeq: number;
  /** Aborted when the client has left. */
  left: AbortSignal;
}

/**
 * Tells of a run from any event on until the run rests: first what is stored, then what is being
 * stored. All of it is read from the store, so that a client may come late, read slowly or come back
 * and still misses nothing, and so that nothing is told that could be lost.
 */
export async function* runEvents(
  { store, run, active, waiting, afterSeq, left }: RunEventsOptions,
): AsyncGenerator<ServerSentEventMessage> {
  let seq = afterSeq;
  let told = 0;
  const progress = async (): Promise<RunProgress> =>
    active()?.progress() ?? restingProgress(run, await store.tally(run.id));
  yield progressEvent(await progress());

  while (!left.aborted) {
    const current = active();
    const change = current?.changed() ?? waiting?.(); // before the reading: nothing can slip in between
    const page = await store.turnsAfter(run.id, { seq, limit: PAGE });
    for (const event of page) yield turnEvent(run, event);
    seq = page.at(-1)?.seq ?? seq;
    told += page.length;
    if (page.length > 0) {
      yield progressEvent(await progress());
      continue; // there may be more
    }
    if (!change) break;
    const news = await waitFor(change, { ms: KEEP_ALIVE_MS, left });
    if (news === "nothing came") yield { comment: "keep-alive" };
  }
  if (left.aborted || afterSeq > 0) return;
  requireWhole(run.id, { read: told, expected: (await store.tally(run.id)).done });
}

function progressEvent(progress: RunProgress): ServerSentEventMessage {
  return { event: "progress", data: JSON.stringify(progress) };
}

function turnEvent(run: StoredRun, event: TurnEvent): ServerSentEventMessage {
  const { seq, scenario, attempt, turn, resultJson } = event;
  const scenario_id = run.request.test_batch[scenario]?.id;
  const place = JSON.stringify({ scenario_id, scenario, attempt_id: attempt + 1, turn });
  return {
    event: "turn",
    id: seq,
    data: `${place.slice(0, -1)},"interaction":${resultJson}}`,
  };
}
