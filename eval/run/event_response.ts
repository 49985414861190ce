import { noteFailure, type RequestContext } from "../../shared/http/router.ts";
import { streamResponse } from "../../shared/http/answer.ts";
import type { ActiveRun } from "./active_run.ts";
import { UNBUFFERED } from "../../shared/http/headers.ts";

/** A response with events, and what becomes of its client. */
export type EventResponse = ReturnType<typeof createEventResponse>;

/** Yields the pieces of a body while they are sent. `left` is that of the response. */
type WritePieces = (left: AbortSignal) => AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** A response with the server-sent events that `write` yields. `client` is the request's signal. */
export function createEventResponse(client: AbortSignal, write: WritePieces) {
  const cancelled = new AbortController();
  const left = AbortSignal.any([client, cancelled.signal]);
  const ended = Promise.withResolvers<void>();
  const pieces = write(left);

  function leave(): void {
    ended.resolve();
    pieces.return(undefined).catch(() => {}); // otherwise it would wait forever and keep what it holds
  }
  left.addEventListener("abort", leave, { once: true });
  if (left.aborted) leave();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) return controller.enqueue(value);
        controller.close();
        ended.resolve();
      } catch (error) {
        ended.reject(error);
        throw error;
      }
    },
    // Not `ReadableStream.from`: it waits for the next piece before it reports the cancel.
    cancel: () => cancelled.abort(),
  }, { highWaterMark: 0 });
  ended.promise.catch(() => {}); // the reader of the body gets the error too
  const headers = { "content-type": "text/event-stream", ...UNBUFFERED };
  return {
    response: streamResponse(body, { headers }),
    /** Aborted when the client leaves, by closing its connection or by cancelling the body. */
    left,
    /** Settles when everything is sent, or the client has left. */
    ended: ended.promise,
  };
}

interface StreamLogOptions {
  context: Pick<RequestContext, "fields" | "logAfter">;
  /** The run that the request started, if any. */
  begun?: ActiveRun | undefined;
}

/** Delays the log line of a request until its stream has ended, and adds how it ended. */
export function logStreamEnd(
  { ended, left }: Pick<EventResponse, "ended" | "left">,
  { context, begun }: StreamLogOptions,
): void {
  const { fields } = context;

  async function note(): Promise<void> {
    try {
      await ended;
      const outcome = left.aborted ? "client left" : (await begun?.ended)?.status;
      if (outcome) fields.outcome = outcome;
    } catch (error) {
      noteFailure(error, context);
    }
    Object.assign(fields, begun?.tokens());
  }

  context.logAfter(note());
}
