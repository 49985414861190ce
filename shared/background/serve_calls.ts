import { errorMessage } from "../errors.ts";
import type { WorkerRequest, WorkerResponse } from "./worker_call.ts";

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
