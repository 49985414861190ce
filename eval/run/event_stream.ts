import pLimit from "p-limit";
import { ServerSentEventStream } from "@std/http/server-sent-event-stream";
import { waitFor } from "../../shared/service/waiting.ts";
import { gatherPieces } from "../../shared/http/answer.ts";
import { runDeleted } from "../store/require_run.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunStore } from "../store/store.ts";
import { createEventResponse, type EventResponse } from "./event_response.ts";
import type { RunManager } from "./manager.ts";
import { runEvents, type RunEventsOptions } from "./events/events.ts";
import { resultPieces } from "../figures/run_result.ts";

/** The id of the last event: a client that reconnects with it has received everything. */
export const LAST_EVENT = "end";

interface EventStreamOptions extends RunEventsOptions {
  runs: RunManager;
  /** The request's own signal. */
  client: AbortSignal;
}

/** The response with the events of a run. */
export function eventStream(options: EventStreamOptions): EventResponse {
  return createEventResponse(options.client, (left) => encodeEvents(options, left));
}

async function* encodeEvents(
  options: EventStreamOptions,
  left: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { store, runs, run, withTurns } = options;
  yield* ReadableStream.from(runEvents(options, left)).pipeThrough(new ServerSentEventStream());
  if (left.aborted) return;
  const record = await store.getRecord(run.id);
  if (!record) throw runDeleted(run.id);
  const now = { ...record, request: run.request }; // watchers of one run share its request
  if (now.status === "running" && runs.isStopping) {
    yield encodeStop(now);
    return;
  }
  const isStuck = now.status === "running" && !runs.isRunning(now);
  const detail = runs.faultOf(run.id);
  const end = isStuck ? { ...now, status: "interrupted" as const, detail } : now;
  yield* encodeEnd(end, { store, left, hasResult: withTurns });
}

/** When a client should reconnect after the service has stopped, in milliseconds. */
export const RETRY_MS = 5000;

/** Without an id: a client that reconnects with its last id misses nothing. */
function encodeStop({ id }: StoredRun): Uint8Array<ArrayBuffer> {
  const detail = "the service is stopping and resumes the run at its next start; " +
    `reconnect to /runs/${id}/events with Last-Event-ID`;
  const data = JSON.stringify({ run_id: id, status: "running", detail });
  return new TextEncoder().encode(`event:stopping\nretry:${RETRY_MS}\ndata:${data}\n\n`);
}

/** At most this many results are written at once: all watchers of a run want its result together. */
const MOST_RESULTS = 3;
/** The longest wait for a place: a watcher that does not read must not hold up the others. */
const PATIENCE_MS = 30_000;
const mayWrite = pLimit(MOST_RESULTS);

/** Holds one of the places for writing a result until it is disposed of. */
async function takePlace(left: AbortSignal): Promise<Disposable> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  mayWrite(() => {
    begin();
    return done;
  });
  await waitFor(begun, { ms: PATIENCE_MS, signal: left });
  return { [Symbol.dispose]: resolve };
}

/** Written in pieces: a result may be too large to hold as one message. */
async function* encodeEnd(
  run: StoredRun,
  { store, left, hasResult = true }: {
    store: RunStore;
    left: AbortSignal;
    hasResult: boolean | undefined;
  },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const isCompleted = hasResult && run.status === "completed";
  const head = `event:${isCompleted ? "result" : "ended"}\nid:${LAST_EVENT}\ndata:`;
  if (isCompleted) {
    using _place = await takePlace(left);
    yield encoder.encode(head);
    const pieces = gatherPieces(resultPieces(store, run));
    for await (const piece of pieces) yield encoder.encode(piece);
  } else {
    const { id, status, detail } = run;
    yield encoder.encode(head + JSON.stringify({ run_id: id, status, detail }));
  }
  yield encoder.encode("\n\n");
}
