import { ServerSentEventStream } from "@std/http/server-sent-event-stream";
import { gatherPieces } from "../../shared/http/json_stream.ts";
import type { RunStore, StoredRun } from "../store/store.ts";
import type { RunManager } from "./run_manager.ts";
import { runEvents } from "./run_events.ts";
import { resultPieces } from "./run_result.ts";

/** The id of the last event: a client that has seen it has seen all. */
export const LAST_EVENT = "end";

export interface EventStreamOptions {
  store: RunStore;
  runs: RunManager;
  run: StoredRun;
  afterSeq: number;
  /** Aborted when the client has left. */
  client: AbortSignal;
}

/**
 * Answers with the events of a run. `left` is aborted when the client leaves, by closing the
 * connection or by cancelling the stream.
 */
export function eventStream(
  options: EventStreamOptions,
): { response: Response; left: AbortSignal } {
  const cancelled = new AbortController();
  const left = AbortSignal.any([options.client, cancelled.signal]);
  const frames = encodeEvents(options, left);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await frames.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    // Not `ReadableStream.from`: it would wait for the next event before it told anyone.
    cancel: () => cancelled.abort(),
  }, { highWaterMark: 0 });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return { response: new Response(body, { headers }), left };
}

async function* encodeEvents(
  { store, runs, run, afterSeq }: EventStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const active = () => runs.active(run.id);
  const events = ReadableStream.from(runEvents({ store, run, active, afterSeq, signal }));
  yield* events.pipeThrough(new ServerSentEventStream());
  if (signal.aborted) return;
  const now = await store.getRun(run.id);
  if (!now || (now.status === "running" && runs.isStopping)) return; // to be gone on with
  yield* encodeEnd(store, now);
}

/** By hand: a result may be far larger than what one should hold as one message. */
async function* encodeEnd(
  store: RunStore,
  run: StoredRun,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const isCompleted = run.status === "completed";
  yield encoder.encode(`event:${isCompleted ? "result" : "ended"}\nid:${LAST_EVENT}\ndata:`);
  if (isCompleted) {
    const pieces = gatherPieces(resultPieces(store, run));
    for await (const piece of pieces) yield encoder.encode(piece);
  } else {
    const { id, status, detail } = run;
    yield encoder.encode(JSON.stringify({ run_id: id, status, detail }));
  }
  yield encoder.encode("\n\n");
}
