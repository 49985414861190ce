/** What a worker is sent, and what it answers; `serveCalls` is the other side. */
export interface WorkerRequest<Input> {
  id: number;
  input: Input;
}

export type WorkerResponse<Output> =
  | { id: number; output: Output }
  | { id: number; error: string };

/** The part of a `Worker` that a call needs. */
export type WorkerPort = Pick<
  Worker,
  "postMessage" | "terminate" | "onmessage" | "onerror" | "onmessageerror"
>;

/** A function that runs in a worker. */
export interface WorkerCall<Input, Output> extends Disposable {
  (input: Input): Promise<Output>;
}

/**
 * Calls a function in a worker. Write `new Worker(new URL("./name.ts", import.meta.url), …)` in
 * `start`, with a file name that no other worker has: `deno compile --bundle` finds workers by that
 * text alone. The worker is started at the first call. Where it cannot be started, or
 * breaks, every call from then on rejects with what it said. Disposing of it ends the worker.
 */
export function createWorkerCall<Input, Output>(
  start: () => WorkerPort,
): WorkerCall<Input, Output> {
  const waiting = new Map<number, PromiseWithResolvers<Output>>();
  let worker: WorkerPort | undefined;
  let failure: Error | undefined;
  let calls = 0;

  function fail(message: string): void {
    failure = new Error(message);
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
    worker?.terminate();
  }

  function begin(): WorkerPort {
    const started = start();
    started.onmessage = ({ data }: MessageEvent<WorkerResponse<Output>>) => {
      const call = waiting.get(data.id);
      waiting.delete(data.id);
      if ("error" in data) call?.reject(new Error(data.error));
      else call?.resolve(data.output);
    };
    started.onerror = (event) => {
      event.preventDefault(); // else it ends the process
      fail(event.message);
    };
    return started;
  }

  const call = (input: Input): Promise<Output> => {
    if (failure) return Promise.reject(failure);
    const id = calls++;
    const result = Promise.withResolvers<Output>();
    try {
      worker ??= begin();
      waiting.set(id, result);
      worker.postMessage({ id, input } satisfies WorkerRequest<Input>);
    } catch (error) {
      waiting.delete(id);
      return Promise.reject(error);
    }
    return result.promise;
  };
  return Object.assign(call, { [Symbol.dispose]: () => fail("the worker was ended") });
}
