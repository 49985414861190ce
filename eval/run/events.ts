import type { ServerSentEventMessage } from "@std/http/server-sent-event-stream";
import type { StoredRun } from "../store/run_record.ts";
import type { RunStore } from "../store/store.ts";
import type { TurnEvent } from "../store/turn_record.ts";
import { requireWhole } from "../store/whole_reader.ts";
import type { ActiveRun } from "./active_run.ts";
import type { RunProgress } from "./run_progress.ts";
import { waitFor } from "./client_stream.ts";
import { restingProgress } from "./view.ts";

/** Turns read at once; at most this many are in memory for a slow client. */
const PAGE = 100;
/** Proxies close idle connections. */
const KEEP_ALIVE_MS = 15_000;

export interface RunEventsOptions {
  store: RunStore;
  run: StoredRun;
  /** The run if it is running in this process; called repeatedly. */
  active: () => ActiveRun | undefined;
  /** Settles when a waiting run is resumed or dropped; `undefined` if it does not wait. */
  waiting?: () => Promise<void> | undefined;
  /** Brings the counts of an active run up to date. */
  refresh?: () => Promise<void>;
  /** Settles at news of a run that other processes work on; `undefined` if there are none. */
  elsewhere?: () => Promise<void> | undefined;
  /** The last event that the client has seen; 0 for none. */
  afterSeq: number;
  /** Aborted when the client has left. */
  left: AbortSignal;
}

/**
 * The events of a run after `afterSeq`, until the run is no longer running: first the stored turns,
 * then each new one. All are read from the store. So a client may connect late, read slowly or
 * reconnect without missing an event, and no event is sent whose turn could still be lost.
 */
export async function* runEvents(
  { store, run, active, waiting, refresh, elsewhere, afterSeq, left }: RunEventsOptions,
): AsyncGenerator<ServerSentEventMessage> {
  let seq = afterSeq;
  let sent = 0;

  async function progress(): Promise<RunProgress> {
    await refresh?.();
    return active()?.progress() ?? restingProgress(run, await store.tally(run.id));
  }

  /** News of a run that is running, but not in this process. */
  async function otherNews(): Promise<{ news: Promise<void> } | undefined> {
    const news = elsewhere?.();
    const isRunning = news && (await store.getRecord(run.id))?.status === "running";
    return isRunning ? { news } : undefined;
  }

  yield progressEvent(await progress());

  while (!left.aborted) {
    const current = active();
    // Before reading, so that no turn is missed.
    const change = current?.changed() ?? waiting?.() ?? (await otherNews())?.news;
    const page = await store.turnsAfter(run.id, { seq, limit: PAGE });
    for (const event of page) yield turnEvent(run, event);
    seq = page.at(-1)?.seq ?? seq;
    sent += page.length;
    if (page.length > 0) {
      yield progressEvent(await progress());
      continue; // there may be more
    }
    if (!change) break;
    const news = await waitFor(change, { ms: KEEP_ALIVE_MS, left });
    if (news === "timed out") yield { comment: "keep-alive" };
  }
  if (left.aborted || afterSeq > 0) return;
  requireWhole(run.id, { read: sent, expected: (await store.tally(run.id)).done });
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
