interface BatcherOptions {
  /** Calls in a batch, at most. */
  size: number;
  /** Batches that may run side by side. */
  parallel?: number;
  /** A further one begins only if more calls than these wait for each; a batch if unset. */
  crowd?: number;
  /** Awaited before a further one begins; meanwhile the others take what is waiting. */
  prepare?: (slot: number) => Promise<unknown>;
  /** How long a call waits for others to go with, if no batch is under way and none is full. */
  waitMs?: number;
}

/**
 * Makes single calls into batches: while one batch is under way the next gathers. A batch that
 * fails fails each of its calls.
 */
export function createBatcher<Input, Output>(
  run: (inputs: Input[], slot: number) => Promise<Output[]>,
  { size, parallel = 1, crowd = size, prepare, waitMs = 0 }: BatcherOptions,
): (input: Input) => Promise<Output> {
  const queue: { input: Input; result: PromiseWithResolvers<Output> }[] = [];
  const isBusy: boolean[] = new Array(parallel).fill(false);
  /** Ends the wait for a first batch. */
  let fill: (() => void) | undefined;

  async function drain(slot: number): Promise<void> {
    isBusy[slot] = true;
    if (await isReady(slot)) {
      while (queue.length > 0) await runBatch(queue.splice(0, Math.min(size, share())), slot);
    }
    isBusy[slot] = false;
  }

  async function runBatch(batch: typeof queue, slot: number): Promise<void> {
    try {
      const outputs = await run(batch.map(({ input }) => input), slot);
      batch.forEach(({ result }, index) => result.resolve(outputs[index]!));
    } catch (error) {
      for (const { result } of batch) result.reject(error);
    }
  }

  /** False for one that cannot be prepared: the first takes what is waiting. */
  async function isReady(slot: number): Promise<boolean> {
    if (slot === 0) await gather();
    else {
      try {
        await prepare?.(slot);
      } catch {
        return false;
      }
    }
    return true;
  }

  const busy = () => isBusy.filter(Boolean).length;

  /** All that is waiting; of a crowd, only a part if others run side by side. */
  function share(): number {
    return queue.length <= crowd ? queue.length : Math.ceil(queue.length / busy());
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
    const slot = isBusy.indexOf(false);
    const isCrowded = slot > 0 && queue.length > crowd * busy();
    if (isCrowded || queue.length >= size) fill?.();
    if (isCrowded || slot === 0) drain(slot);
    return result.promise;
  };
}
