import { AppError } from "../../shared/errors.ts";
import { streamPieces } from "../../shared/http/json_stream.ts";
import type { RunReader, StoredRun } from "../store/store.ts";
import type { ActiveRun, RunEnd } from "./active_run.ts";
import { resultPieces } from "../results/run_result.ts";

/** Rejects at once when the client leaves; the run itself may still have others who wait for it. */
export function waitForEnd(active: ActiveRun, client: AbortSignal): Promise<RunEnd> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(client.reason);
    if (client.aborted) leave();
    client.addEventListener("abort", leave, { once: true });
    active.ended.then((end) => {
      client.removeEventListener("abort", leave);
      resolve(end);
    });
  });
}

/** Answers with the result of a run that is over. Throws where it has none. */
export function answerWithResult(
  store: RunReader,
  run: StoredRun,
  { status, error }: RunEnd,
): Response {
  const headers = { location: `/runs/${run.id}` };
  if (status === "completed") return streamPieces(resultPieces(store, run), headers);
  if (status === "running") {
    const detail =
      `cannot finish run ${run.id} now: the service is stopping, and goes on with it later`;
    throw new AppError(503, "shutting_down", detail, {
      headers: { ...headers, "retry-after": "5" },
    });
  }
  if (status !== "cancelled" && error) throw error;
  throw new AppError(409, "conflict", `cannot answer with a result: run ${run.id} is ${status}`, {
    headers,
  });
}
