import { type ApiProblem, offlineProblem, toApiProblem } from "./api_problem.ts";
import { keyHeaders, requireKey } from "./key.ts";
import { readServerEvents, readTextPieces, type ServerEvent } from "./server_events.ts";

export interface ApiRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  file?: { content: Blob | string; type: string };
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * Asks the service of this page, with the person's key. Asks for the key if the service wants one,
 * and then repeats the request. Any other answer is returned. Throws an `ApiProblem` if no answer
 * came; an `AbortError` if `signal` aborts.
 */
export async function send(path: string, options: ApiRequest = {}): Promise<Response> {
  const { method = "GET", body, file, headers = {}, signal } = options;
  const content = file ? file.content : body === undefined ? undefined : JSON.stringify(body);
  for (;;) {
    const key = keyHeaders();
    const response = await reach(path, {
      method,
      headers: {
        accept: "application/json",
        ...(content !== undefined && { "content-type": file?.type ?? "application/json" }),
        ...headers,
        ...key,
      },
      ...(content !== undefined && { body: content }),
      ...(signal && { signal }),
      cache: "no-store",
    });
    if (response.status !== 401) return response;
    await response.body?.cancel();
    await requireKey(key);
  }
}

/** The same, but an answer that is no success is thrown as an `ApiProblem`. */
export async function request(path: string, options: ApiRequest = {}): Promise<Response> {
  const response = await send(path, options);
  if (response.ok) return response;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  throw toApiProblem(await readBody(response), {
    status: response.status,
    requestId,
    ...(seconds > 0 && { retryAfter: seconds }),
  });
}

/** The JSON of an answer. `T` is a type of the server's schemas. */
export async function requestJson<T>(path: string, options: ApiRequest = {}): Promise<T> {
  return await (await request(path, options)).json();
}

/** The events of a streamed answer. */
export async function* requestEvents(
  path: string,
  options: ApiRequest = {},
): AsyncGenerator<ServerEvent> {
  const headers = { accept: "text/event-stream", ...options.headers };
  const { body } = await request(path, { ...options, headers });
  try {
    if (body) yield* readServerEvents(body);
  } catch (error) {
    throw options.signal?.aborted ? error : lostProblem(error);
  }
}

/** The lines of an answer, as they arrive; empty ones are left out. */
export async function* requestLines(
  path: string,
  options: ApiRequest = {},
): AsyncGenerator<string> {
  const { body } = await request(path, options);
  if (!body) return;
  let rest = "";
  try {
    for await (const text of readTextPieces(body)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      yield* lines.filter((line) => line !== "");
    }
  } catch (error) {
    throw options.signal?.aborted ? error : lostProblem(error);
  }
  if (rest !== "") yield rest;
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw offlineProblem("cannot reach the service", error);
  }
}

/** The problem of an answer that has ended too early. */
export function lostProblem(cause?: unknown): ApiProblem {
  return offlineProblem("the connection was lost before the answer was complete", cause);
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  const data = /^data: ?(\{.*\})$/m.exec(text)?.[1]; // an error as an event
  try {
    return JSON.parse(data ?? text);
  } catch {
    return undefined;
  }
}
