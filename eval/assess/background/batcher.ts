export interface BatcherOptions {
  /** Calls in a batch, at most. */
  size: number;
  /** Batches that may run side by side. */
  parallel?: number;
  /** A further one begins only if more calls than these are waiting; a batch if unset. */
  crowd?: number;
  /** How long a call waits for others to go with, if no batch is under way and none is full. */
  waitMs?: number;
}

/**
 * Makes single calls into batches: while one batch is under way the next gathers. A batch that
 * fails fails each of its calls.
 */
export function createBatcher<Input, Output>(
  run: (inputs: Input[], slot: number) => Promise<Output[]>,
  { size, parallel = 1, crowd = size, waitMs = 0 }: BatcherOptions,
): (input: Input) => Promise<Output> {
  const queue: { input: Input; result: PromiseWithResolvers<Output> }[] = [];
  const isBusy: boolean[] = new Array(parallel).fill(false);
  /** Ends the wait for a first batch. */
  let fill: (() => void) | undefined;

  async function drain(slot: number): Promise<void> {
    isBusy[slot] = true;
    if (slot === 0) await gather();
    else await Promise.resolve(); // calls of the same moment go together
    while (queue.length > 0) {
      const batch = queue.splice(0, Math.min(size, share()));
      try {
        const outputs = await run(batch.map(({ input }) => input), slot);
        batch.forEach(({ result }, index) => result.resolve(outputs[index]!));
      } catch (error) {
        for (const { result } of batch) result.reject(error);
      }
    }
    isBusy[slot] = false;
  }

  /** What is waiting; of a crowd, each of the batches that run side by side gets the same part. */
  function share(): number {
    if (queue.length <= crowd) return queue.length;
    return Math.ceil(queue.length / isBusy.filter(Boolean).length);
  }

  /** Until a batch is full or the time is up. */
  function gather(): Promise<void> {
    if (waitMs === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => fill?.(), waitMs);
      fill = () => {
        fill = undefined;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return (input) => {
    const result = Promise.withResolvers<Output>();
    queue.push({ input, result });
    if (queue.length >= size) fill?.();
    const slot = isBusy.indexOf(false);
    const isNeeded = slot === 0 || queue.length > crowd;
    if (slot >= 0 && isNeeded) drain(slot);
    return result.promise;
  };
}
