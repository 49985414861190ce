import type { TurnPosition } from "./position.ts";
import type { ReceivedReply } from "./turn_record.ts";
import type { PendingRepliesTable } from "../schema/schema.ts";

/**
 * How long a reply waits for its scores before it is stored without them. Most are scored within a
 * few milliseconds, and storing a reply costs as much as storing its turn: on a busy machine a
 * shorter wait doubles what is written, which makes it busier.
 */
const DELAY_MS = 100;
const MAX_BATCH = 200;

interface ReplyWriter {
  /** Resolves once the reply is on the disk, or no longer needs to be stored. */
  write(runId: string, reply: ReceivedReply, options: { isUrgent: boolean }): Promise<void>;
  /** The reply need not be stored any more, because its turn is about to be. */
  drop(runId: string, position: TurnPosition): void;
  /** Stops writing. */
  stop(): void;
}

interface Waiting {
  runId: string;
  reply: ReceivedReply;
  due: number;
  done: PromiseWithResolvers<void>;
}

/** `insert` stores all of the rows or none, and resolves once they are on the disk. */
export function createReplyWriter(
  insert: (rows: PendingRepliesTable[]) => Promise<void>,
): ReplyWriter {
  /** In the order of arrival, so that the first is due first; urgent ones are due at once. */
  const waiting = new Map<string, Waiting>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWriting = false;

  function schedule(): void {
    clearTimeout(timer);
    timer = undefined;
    const [first] = waiting.values();
    if (!first || isWriting) return;
    timer = setTimeout(drain, Math.max(0, first.due - performance.now()));
  }

  async function drain(): Promise<void> {
    isWriting = true;
    const now = performance.now();
    const batch = waiting.entries().filter(([, { due }]) => due <= now).take(MAX_BATCH).toArray();
    for (const [key] of batch) waiting.delete(key);
    try {
      if (batch.length > 0) await insert(batch.map(([, { runId, reply }]) => toRow(runId, reply)));
      for (const [, { done }] of batch) done.resolve();
    } catch (error) {
      for (const [, { done }] of batch) done.reject(error);
    }
    isWriting = false;
    schedule();
  }

  return {
    write(runId, reply, { isUrgent }) {
      const done = Promise.withResolvers<void>();
      const due = isUrgent ? 0 : performance.now() + DELAY_MS;
      waiting.set(keyOf(runId, reply), { runId, reply, due, done });
      if (isUrgent && !isWriting) drain();
      else if (timer === undefined) schedule();
      return done.promise;
    },
    drop(runId, position) {
      const key = keyOf(runId, position);
      const found = waiting.get(key);
      if (!found) return;
      waiting.delete(key);
      found.done.resolve();
      if (waiting.size === 0) schedule();
    },
    stop() {
      waiting.clear();
      schedule();
    },
  };
}

function keyOf(runId: string, { scenario, attempt, turn }: TurnPosition): string {
  return `${runId}/${scenario}/${attempt}/${turn}`;
}

/** Only for replies that are stored: of most the turn is stored before. */
function toRow(
  runId: string,
  { scenario, attempt, turn, ...received }: ReceivedReply,
): PendingRepliesTable {
  const reply = JSON.stringify({
    agent_reply: received.content,
    usage: received.usage,
    latency_ms: received.latencyMs,
    first_token_ms: received.firstTokenMs,
    finish_reason: received.finishReason,
    reasoning: received.reasoning,
    reply_encoding: received.encoding,
    tool_calls: received.toolCalls,
    cost: received.cost,
  });
  return { run_id: runId, scenario, attempt, turn, tries: 0, reply };
}
