import type { ServerSentEventMessage } from "@std/http/server-sent-event-stream";
import { ServerSentEventStream } from "@std/http/server-sent-event-stream";
import { waitFor } from "../../shared/service/waiting.ts";
import { type Comparer, comparisonInDetail } from "../figures/compare_stored.ts";
import { createEventResponse, type EventResponse } from "../run/event_response.ts";
import { LAST_EVENT, RETRY_MS } from "../run/event_stream.ts";
import type { RunManager } from "../run/manager.ts";

/** Proxies close idle connections. */
const KEEP_ALIVE_MS = 15_000;
/** The least interval between two reports of progress. */
const PAUSE_MS = 250;

interface GroupStreamOptions {
  comparer: Comparer;
  runs: RunManager;
  groupId: string;
  /** The request's own signal. */
  client: AbortSignal;
}

/** The response with the events of a group. */
export function groupEventStream(options: GroupStreamOptions): EventResponse {
  return createEventResponse(options.client, (left) => encode(options, left));
}

async function* encode(
  options: GroupStreamOptions,
  left: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* ReadableStream.from(groupEvents(options, left)).pipeThrough(new ServerSentEventStream());
}

/**
 * Yields `progress` after changes, at most four times per second, until no run of the group is
 * running; then `result` with the comparison, `ended` if no run has completed, or `stopping`.
 */
async function* groupEvents(
  { comparer, runs, groupId }: GroupStreamOptions,
  left: AbortSignal,
): AsyncGenerator<ServerSentEventMessage> {
  while (!left.aborted) {
    const members = await comparer.runs({ group: groupId });
    // Before reading the group, so that no change is missed.
    const changes = (await Promise.all(members.map(({ id }) => runs.changes(id))))
      .flatMap((change) => change?.next ?? []);
    const group = await comparer.state(groupId);
    yield { event: "progress", data: JSON.stringify(group) };
    if (group.status !== "running" || changes.length === 0) break;
    await waitFor(new Promise(() => {}), { ms: PAUSE_MS, signal: left });
    const news = await waitFor(Promise.race(changes), { ms: KEEP_ALIVE_MS, signal: left });
    if (news === "timed out") yield { comment: "keep-alive" };
  }
  if (left.aborted) return;
  const group = await comparer.state(groupId);
  if (group.status === "running" && runs.isStopping) {
    const detail = "the service is stopping and resumes the runs at its next start; " +
      `reconnect to /compare?group=${groupId}`;
    // Without an id, so that a client that reconnects misses nothing.
    const data = JSON.stringify({ group_id: groupId, status: group.status, detail });
    yield { event: "stopping", retry: RETRY_MS, data };
  } else if (!group.runs.some(({ status }) => status === "completed")) {
    yield { event: "ended", id: LAST_EVENT, data: JSON.stringify(group) };
  } else {
    const comparison = comparisonInDetail(await comparer.compare({ group: groupId }), undefined);
    yield { event: "result", id: LAST_EVENT, data: JSON.stringify(comparison) };
  }
}
