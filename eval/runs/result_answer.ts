import { AppError } from "../../shared/errors.ts";
import { gatherPieces, streamPieces } from "../../shared/http/json_stream.ts";
import { toProblem } from "../../shared/http/problem.ts";
import type { RunReader, StoredRun } from "../store/store.ts";
import type { ActiveRun, RunEnd } from "./active_run.ts";
import { createClientStream, waitFor } from "./client_stream.ts";
import { resultPieces } from "./run_result.ts";

/** How long a run may take before its answer begins without it. */
const BEGIN_AFTER_MS = 500;
/** Proxies close connections on which nothing is said. */
const KEEP_ALIVE_MS = 15_000;

export interface ResultAnswerOptions {
  store: RunReader;
  active: ActiveRun;
  /** The request's own signal. */
  client: AbortSignal;
  headers: Record<string, string>;
  requestId: string;
}

/**
 * Waits for a run and answers with its result. The answer to a run that takes longer begins early,
 * with line ends, which JSON allows in front: a server does not notice that its client has left
 * before the answer has begun (Deno 2.9.5, for a body of more than one packet), and nobody should
 * pay for an hour of calls that no one waits for. Such a run can no longer be answered by a status:
 * where it ends without a result, the body is a problem document and the connection is cut after it,
 * so that nobody takes it for one. Rejects when the client leaves early.
 */
export async function answerWithResult(options: ResultAnswerOptions): Promise<Response> {
  const { store, active, client, headers } = options;
  const gone = new AbortController();
  client.addEventListener("abort", () => gone.abort(), { once: true });
  if (client.aborted) gone.abort();
  active.hold(gone.signal);
  if (await waitFor(active.ended, { ms: BEGIN_AFTER_MS, left: client }) === "it came") {
    return resultResponse(store, active.run, { ...await active.ended, headers });
  }
  client.throwIfAborted();
  const { body, left } = createClientStream(client, (left) => writeLate(options, left));
  left.addEventListener("abort", () => gone.abort(), { once: true });
  return new Response(body, { headers: { "content-type": "application/json", ...headers } });
}

/** The answer of a run that is over. Throws an `AppError` where it has no result. */
export function resultResponse(
  store: RunReader,
  run: StoredRun,
  { headers, ...end }: RunEnd & { headers: Record<string, string> },
): Response {
  requireResult(run, end);
  return streamPieces(resultPieces(store, run), headers);
}

async function* writeLate(
  { store, active, requestId }: ResultAnswerOptions,
  left: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  do {
    if (left.aborted) return;
    yield encoder.encode("\n");
  } while (await waitFor(active.ended, { ms: KEEP_ALIVE_MS, left }) === "nothing came");
  try {
    requireResult(active.run, await active.ended);
  } catch (error) {
    yield encoder.encode(JSON.stringify(toProblem(error, requestId)));
    throw error;
  }
  const pieces = gatherPieces(resultPieces(store, active.run));
  for await (const piece of pieces) yield encoder.encode(piece);
}

function requireResult({ id }: StoredRun, { status, error }: RunEnd): void {
  if (status === "completed") return;
  const headers = { location: `/runs/${id}` };
  if (status === "running") {
    const detail =
      `cannot finish run ${id} now: the service is stopping, and goes on with it later`;
    throw new AppError(503, "shutting_down", detail, { headers });
  }
  if (status !== "cancelled" && error) throw error;
  throw new AppError(409, "conflict", `cannot answer with a result: run ${id} is ${status}`, {
    headers,
  });
}
