import type { ServerSentEventMessage } from "@std/http/server-sent-event-stream";
import { waitFor } from "../../../shared/service/waiting.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import type { TurnEvent } from "../../store/turn_record.ts";
import { requireWhole } from "../../store/whole_reader.ts";
import type { RunProgress } from "../active_run.ts";
import type { RunManager } from "../manager.ts";
import { restingProgress } from "../view.ts";

/** Turns read at once; at most this many are in memory for a slow client. */
const PAGE = 100;
/** Proxies close idle connections. */
const KEEP_ALIVE_MS = 15_000;

export interface RunEventsOptions {
  store: RunStore;
  runs: Pick<RunManager, "active" | "changes" | "refresh">;
  run: StoredRun;
  /** The last event that the client has seen; 0 for none. */
  afterSeq: number;
  /** False: progress only. */
  withTurns?: boolean;
}

/**
 * The events of a run after `afterSeq`, until the run is no longer running: first the stored turns,
 * then each new one. All are read from the store. So a client may connect late, read slowly or
 * reconnect without missing an event, and no event is sent whose turn could still be lost.
 */
export async function* runEvents(
  { store, runs, run, afterSeq, withTurns = true }: RunEventsOptions,
  left: AbortSignal,
): AsyncGenerator<ServerSentEventMessage> {
  let seq = afterSeq;
  let sent = 0;

  async function progress(): Promise<RunProgress> {
    await runs.refresh(run.id);
    return runs.active(run.id)?.progress() ?? restingProgress(run, await store.tally(run.id));
  }

  yield progressEvent(await progress());

  while (!left.aborted) {
    // Before reading, so that no turn is missed.
    const change = (await runs.changes(run.id))?.next;
    const page = withTurns ? await readPage(store, { runId: run.id, seq, change }) : [];
    for (const event of page) yield turnEvent(run, event);
    seq = page.at(-1)?.seq ?? seq;
    sent += page.length;
    if (page.length > 0) {
      yield progressEvent(await progress());
      continue; // there may be more
    }
    if (!change) break;
    const news = await waitFor(change, { ms: KEEP_ALIVE_MS, signal: left });
    if (news === "timed out") yield { comment: "keep-alive" };
    else if (!withTurns) yield progressEvent(await progress());
  }
  if (left.aborted || afterSeq > 0 || !withTurns) return;
  requireWhole(run.id, { read: sent, expected: (await store.tally(run.id)).done });
}

/** Pages that are being read, by the change that their readers wait for, and by `seq`. */
const reading = new WeakMap<Promise<void>, Map<number, Promise<TurnEvent[]>>>();

/**
 * The turns after `seq`. Watchers that wait for the same change of a run share a read that has not
 * ended. A read that began before the change may lack a turn, so it is not shared.
 */
function readPage(
  store: RunStore,
  { runId, seq, change }: { runId: string; seq: number; change: Promise<void> | undefined },
): Promise<TurnEvent[]> {
  const read = () => store.turnsAfter(runId, { seq, limit: PAGE });
  if (!change) return read(); // the run is over
  const shared = reading.get(change) ?? new Map<number, Promise<TurnEvent[]>>();
  reading.set(change, shared);
  const start = () => {
    const page = read().finally(() => shared.delete(seq));
    shared.set(seq, page);
    return page;
  };
  // A read that fails ends the events of one reader; the others share a second one.
  return shared.get(seq)?.catch(() => shared.get(seq) ?? start()) ?? start();
}

function progressEvent(progress: RunProgress): ServerSentEventMessage {
  return { event: "progress", data: JSON.stringify(progress) };
}

function turnEvent(run: StoredRun, event: TurnEvent): ServerSentEventMessage {
  const { seq, scenario, attempt, turn, resultJson } = event;
  const scenario_id = run.request.test_batch[scenario]?.id;
  const head = JSON.stringify({ scenario_id, scenario, attempt_id: attempt + 1, turn });
  return {
    event: "turn",
    id: seq,
    data: `${head.slice(0, -1)},"interaction":${resultJson}}`,
  };
}
