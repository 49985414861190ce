import { errorMessage } from "../errors.ts";
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

/** A script finds what it runs through the global object only. */
const WORK = "assay.work";
const scope = globalThis as unknown as Record<symbol, unknown>;
const script = new Script(`globalThis[Symbol.for("${WORK}")]()`);

/**
 * Beyond what the caller waits, so that the worker is ended by then: a stop that comes just when the
 * work has ended by itself hits the event loop (Deno 2.9.5), which is harmless only in an ended
 * worker, and otherwise ends the process.
 */
const SLACK_MS = 1_000;

/**
 * For `serveCalls`: `handle`, stopped wherever it is soon after its caller no longer waits, also in a
 * loop without end. Then there is no answer: the caller has ended the worker. It cannot end the
 * thread, because Deno (2.9.5) lets the thread of an ended worker run for as long as it computes.
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
