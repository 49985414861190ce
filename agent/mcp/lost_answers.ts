import { asFields, parseFields } from "../../shared/fields.ts";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

/** The id of a request by the protocol. */
type RequestId = string | number;

/**
 * A `fetch` that calls `onLost` with the id of a request whose answer is a stream of events that ends,
 * or breaks, without the answer: the SDK (1.32.2) would wait for it until the time limit of the tool.
 * A stream with event ids is left to the SDK, which resumes it.
 */
export function createWatchedFetch(
  fetch: typeof globalThis.fetch,
  onLost: (id: RequestId) => void,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, statusText, headers } = response;
    const id = requestId(init?.body);
    if (id === undefined || !body) return response;
    if (!headers.get("content-type")?.includes("text/event-stream")) return response;
    const [passed, watched] = body.tee();
    void isLost(watched, id).then((lost) => {
      if (lost && !init?.signal?.aborted) onLost(id);
    });
    return new Response(passed, { status, statusText, headers });
  };
}

/** `undefined` for a notification, and for what is no message. */
function requestId(body: unknown): RequestId | undefined {
  const { id, method } = asFields(typeof body === "string" ? parseFields(body) : undefined);
  return method !== undefined && isId(id) ? id : undefined;
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
      isFound ||= message.id === id && message.method === undefined;
    }
  } catch {
    // It broke.
  }
  return !isFound;
}
