/** A request as the double received it. `body` is parsed if it is JSON, else its text. */
export interface ReceivedRequest {
  method: string;
  path: string;
  search: string;
  headers: Headers;
  // deno-lint-ignore no-explicit-any
  body: any;
  /** Aborts when the client leaves before it has the whole answer. */
  signal: AbortSignal;
}

/** How one request is answered. The functions below make the usual ones. */
export type Answer = (request: ReceivedRequest) => Response | Promise<Response>;

export interface CompletionFields {
  content?: string | null;
  /** `extra` are further fields of the call: Gemini's `extra_content`. */
  toolCalls?: { id?: string; name: string; arguments: string; extra?: Record<string, unknown> }[];
  finishReason?: string | null;
  /** `null` leaves it out. */
  usage?: Record<string, unknown> | null;
  model?: string;
  id?: string;
}

/** An OpenAI chat completion. */
export function completion(fields: CompletionFields = {}): Answer {
  return json(completionBody(fields));
}

export function completionBody(fields: CompletionFields = {}) {
  const { toolCalls, content = toolCalls ? null : "Hello there.", usage = USAGE } = fields;
  const tool_calls = toolCalls?.map(({ id, name, arguments: args, extra }, index) => ({
    id: id ?? `call0000${index}`,
    type: "function",
    function: { name, arguments: args },
    ...extra,
  }));
  const message = {
    role: "assistant",
    content,
    refusal: null,
    ...(tool_calls && { tool_calls }),
  };
  const finish_reason = fields.finishReason ?? (toolCalls ? "tool_calls" : "stop");
  return {
    id: fields.id ?? "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: fields.model ?? "acme/model-1",
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    ...(usage && { usage }),
  };
}

const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

/** A completion in chunks, its content word by word, for `sse`. */
export function completionChunks(fields: CompletionFields = {}) {
  const { id, model, choices, usage } = completionBody(fields);
  const { message, finish_reason } = choices[0]!;
  const base = { id, object: "chat.completion.chunk", model };
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const words = message.content?.match(/\s*\S+|\s+$/g) ?? [];
  const calls = (message.tool_calls ?? []).map((call, index) => ({ index, ...call }));
  return [
    chunk({ role: "assistant", content: "" }),
    ...words.map((word) => chunk({ content: word })),
    ...calls.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, finish_reason),
    ...(usage ? [{ ...base, choices: [], usage }] : []),
  ];
}

/**
 * A stream of events, one per chunk; a string is sent as it is. At its `end` it sends `[DONE]`, or
 * is closed without it, or its connection is cut, or it stays open and silent.
 */
export function sse(
  chunks: unknown[],
  { end = "done" }: { end?: "done" | "close" | "cut" | "hang" } = {},
): Answer {
  const events = chunks.map((chunk) =>
    typeof chunk === "string" ? chunk : `data: ${JSON.stringify(chunk)}\n\n`
  );
  if (end === "done") events.push("data: [DONE]\n\n");
  return partial(events, { end: end === "done" ? "close" : end, type: "text/event-stream" });
}

/** A cut is faster than the pieces before it, unless they have left. */
const SENT_MS = 20;

/** Sends `pieces` as one body; a `cut` ends the connection with the body unfinished. */
export function partial(
  pieces: string[],
  { end, type = "application/json" }: { end: "close" | "cut" | "hang"; type?: string },
): Answer {
  return ({ signal }) => {
    async function* body(): AsyncGenerator<Uint8Array> {
      for (const piece of pieces) yield new TextEncoder().encode(piece);
      if (end === "hang") await ended(signal);
      if (end !== "cut") return;
      await new Promise((resolve) => setTimeout(resolve, SENT_MS));
      throw new Error("cut");
    }
    return new Response(ReadableStream.from(body()), { headers: { "content-type": type } });
  };
}

/** Answers that wait until they are released, and then say "finished". */
export function holdAnswers(): { answer: Answer; release: () => void } {
  const held = Promise.withResolvers<void>();
  return {
    async answer(request) {
      await held.promise;
      return completion({ content: "finished" })(request);
    },
    release: held.resolve,
  };
}

/** Never answers: for timeouts and for clients that leave. */
export function hang(): Answer {
  return async ({ signal }) => {
    await ended(signal);
    return new Response(null, { status: 503 });
  };
}

/** An error in OpenAI's form. Tests look for its `message` where it must not appear. */
export function errorStatus(
  status: number,
  { headers = {}, message = "raw words of the provider" }: {
    headers?: Record<string, string>;
    message?: string;
  } = {},
): Answer {
  return json({ error: { message, type: "error", code: null, param: null } }, { status, headers });
}

export function json(body: unknown, init: ResponseInit = {}): Answer {
  return () => Response.json(body, init);
}

/** Any bytes under any content type. */
export function raw(body: BodyInit, init: ResponseInit = {}): Answer {
  return () => new Response(body, init);
}

function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}
