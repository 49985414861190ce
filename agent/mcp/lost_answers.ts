import { asFields, type Fields, parseFields } from "../../shared/fields.ts";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

/** The id of a request by the protocol. */
type RequestId = string | number;

/**
 * A `fetch` that calls `onLost` with the id of a request whose answer is a stream of events that ends,
 * or breaks, without the answer: the SDK (1.32.2) would wait for it until the time limit of the tool.
 * A stream with event ids is left to the SDK, which resumes it. Nobody waits for a request that was
 * cancelled.
 */
export function createWatchedFetch(
  fetch: typeof globalThis.fetch,
  onLost: (id: RequestId) => void,
): typeof globalThis.fetch {
  const cancelled = new Set<RequestId>();
  return async (input, init) => {
    const message = asFields(typeof init?.body === "string" ? parseFields(init.body) : undefined);
    const ended = cancelledId(message);
    if (ended !== undefined) cancelled.add(ended);
    const response = await fetch(input, init);
    const { body, status, statusText, headers } = response;
    const id = requestId(message);
    if (id === undefined || !body) return response;
    if (!headers.get("content-type")?.includes("text/event-stream")) {
      cancelled.delete(id);
      return response;
    }
    const [passed, watched] = body.tee();
    void isLost(watched, id).then((lost) => {
      const isWanted = !cancelled.delete(id) && !init?.signal?.aborted;
      if (lost && isWanted) onLost(id);
    });
    return new Response(passed, { status, statusText, headers });
  };
}

/** `undefined` for a notification, and for what is no message. */
function requestId({ id, method }: Fields): RequestId | undefined {
  return method !== undefined && isId(id) ? id : undefined;
}

/** The request that a message cancels. */
function cancelledId({ method, params }: Fields): RequestId | undefined {
  const { requestId } = asFields(params);
  return method === "notifications/cancelled" && isId(requestId) ? requestId : undefined;
}

function isId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

/** Reads a stream to its end. Never rejects. */
async function isLost(body: ReadableStream<Uint8Array<ArrayBuffer>>, id: RequestId) {
  let isFound = false;
  const onId = () => isFound = true;
  try {
    for await (const data of readServerSentEvents(body, { onId })) {
      const message = asFields(parseFields(data));
      // As the SDK does: some servers answer request 1 as "1".
      isFound ||= String(message.id) === String(id) && message.method === undefined;
    }
  } catch {
    // It broke.
  }
  return !isFound;
}
