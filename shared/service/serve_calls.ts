import { errorMessage } from "./errors.ts";
import type { WorkerRequest, WorkerResponse } from "./worker_call.ts";
import { Script } from "node:vm";

/** A worker's global object: its types and those of the main thread exclude each other. */
interface WorkerScope<Input, Output> {
  onmessage: (event: MessageEvent<WorkerRequest<Input>>) => void;
  postMessage(message: WorkerResponse<Output>): void;
}

/**
 * Answers the calls of `createWorkerCall` with a function, in the worker it is called in. If the input
 * decides how long the function takes, it must be `stoppable`.
 */
export function serveCalls<Input, Output>(
  handle: (input: Input, limitMs: number) => Output | Promise<Output>,
): void {
  const scope = globalThis as unknown as WorkerScope<Input, Output>;
  scope.onmessage = async ({ data: { id, input, limitMs } }) => {
    try {
      scope.postMessage({ id, output: await handle(input, limitMs) });
    } catch (error) {
      scope.postMessage({ id, error: errorMessage(error) });
    }
  };
}

/** The key of the work in the global object, the only way for a script to find it. */
const WORK = "assay.work";
const scope = globalThis as unknown as Record<symbol, unknown>;
const script = new Script(`globalThis[Symbol.for("${WORK}")]()`);

/**
 * Added to the caller's limit, so that the worker is terminated before its script is stopped. A stop
 * just after the work has finished hits the event loop (Deno 2.9.5) and ends the process; in a
 * terminated worker it is harmless.
 */
const SLACK_MS = 1_000;

/**
 * For `serveCalls`: `handle`, which is stopped soon after its caller no longer waits, even in an
 * infinite loop. There is then no answer, because the caller has terminated the worker. That alone
 * would not stop the work: Deno (2.9.5) lets the thread run for as long as it computes.
 */
export function stoppable<Input, Output>(
  handle: (input: Input) => Output,
): (input: Input, limitMs: number) => Output | Promise<never> {
  return (input, limitMs) => {
    scope[Symbol.for(WORK)] = () => handle(input);
    try {
      return script.runInThisContext({ timeout: Math.ceil(limitMs) + SLACK_MS }) as Output;
    } catch (error) {
      if (isTimeout(error)) return new Promise<never>(() => {});
      throw error;
    } finally {
      delete scope[Symbol.for(WORK)]; // it holds the input
    }
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
