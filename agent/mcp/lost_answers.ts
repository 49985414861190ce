import { asFields, type Fields, parseFields } from "../../shared/fields.ts";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

/** The id of a request by the protocol. */
type RequestId = string | number;

/** How often the SDK tries to resume a stream. */
const RESUMES = 2;

/**
 * A `fetch` that calls `onLost` with the id of a request whose answer is a stream of events that ends,
 * or breaks, without the answer: the SDK (1.32.2) would wait for it until the time limit of the tool.
 * The SDK resumes a stream with event ids; its request is lost if that fails. Nobody waits for a
 * request that was cancelled.
 */
export function createWatchedFetch(
  fetch: typeof globalThis.fetch,
  onLost: (id: RequestId) => void,
): typeof globalThis.fetch {
  /** The requests that somebody waits for. */
  const waiting = new Set<RequestId>();
  /** Those whose stream is to be resumed, by the event after which it is. */
  const resumable = new Map<string, { id: RequestId; failures: number }>();

  function lose(id: RequestId): void {
    if (waiting.delete(id)) onLost(id);
  }

  function watch(
    { body, status, statusText, headers }: Response,
    { id, signal }: { id: RequestId; signal: AbortSignal | null | undefined },
  ): Response {
    const [passed, watched] = body?.tee() ?? [null, new Blob().stream()];
    void findAnswer(watched, id).then(({ isFound, lastEvent }) => {
      if (isFound || signal?.aborted) waiting.delete(id);
      else if (!lastEvent) lose(id);
      else if (waiting.has(id)) resumable.set(lastEvent, { id, failures: 0 });
    });
    return new Response(passed, { status, statusText, headers });
  }

  const send: typeof fetch = async (input, init) => {
    const message = asFields(typeof init?.body === "string" ? parseFields(init.body) : undefined);
    const ended = cancelledId(message);
    if (ended !== undefined) waiting.delete(ended);
    const id = requestId(message);
    if (id === undefined) return await fetch(input, init);
    waiting.add(id);
    let isStream = false;
    try {
      const response = await fetch(input, init);
      isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
      return isStream ? watch(response, { id, signal: init?.signal }) : response;
    } finally {
      if (!isStream) waiting.delete(id);
    }
  };

  async function resume(event: string, ...[input, init]: Parameters<typeof fetch>) {
    const { id, failures } = resumable.get(event)!;
    resumable.delete(event);
    function fail(): void {
      if (failures + 1 === RESUMES) lose(id);
      else resumable.set(event, { id, failures: failures + 1 });
    }
    const response = await fetch(input, init).catch((error) => {
      fail();
      throw error;
    });
    if (response.ok) return watch(response, { id, signal: init?.signal });
    if (response.status === 405) lose(id); // this server resumes no stream; the SDK gives up
    else fail();
    return response;
  }

  return (input, init) => {
    const event = new Headers(init?.headers).get("last-event-id") ?? "";
    return resumable.has(event) ? resume(event, input, init) : send(input, init);
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

/** Reads a stream to its end. `lastEvent` is the id of the last event that has one. Never rejects. */
async function findAnswer(body: ReadableStream<Uint8Array<ArrayBuffer>>, id: RequestId) {
  let isFound = false;
  let lastEvent = "";
  const onId = (eventId: string) => lastEvent = eventId;
  try {
    for await (const data of readServerSentEvents(body, { onId, isStrict: true })) {
      const message = asFields(parseFields(data));
      // As the SDK does: some servers answer request 1 as "1".
      isFound ||= String(message.id) === String(id) && message.method === undefined;
    }
  } catch {
    // It broke.
  }
  return { isFound, lastEvent };
}
