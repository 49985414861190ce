interface BatcherOptions {
  /** The most calls per batch. */
  size: number;
  /** How many batches may run at the same time. */
  parallel?: number;
  /** Another batch starts only if more calls than this wait per running batch; `size` if unset. */
  crowd?: number;
  /** Awaited before a slot other than the first starts; the others work on meanwhile. */
  prepare?: (slot: number) => Promise<unknown>;
  /** How long the first call waits for others to share its batch, unless the batch is full. */
  waitMs?: number;
}

/**
 * Combines single calls into batches: while one batch runs, the next one is collected. If a batch
 * fails, each of its calls fails.
 */
export function createBatcher<Input, Output>(
  run: (inputs: Input[], slot: number) => Promise<Output[]>,
  { size, parallel = 1, crowd = size, prepare, waitMs = 0 }: BatcherOptions,
): (input: Input) => Promise<Output> {
  const queue: { input: Input; result: PromiseWithResolvers<Output> }[] = [];
  const isBusy: boolean[] = new Array(parallel).fill(false);
  /** Ends the wait for a first batch early. */
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

  /** False if the slot cannot be prepared: the first slot then does all the work. */
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

  /** All waiting calls; if there are many, an equal part for each running slot. */
  function share(): number {
    return queue.length <= crowd ? queue.length : Math.ceil(queue.length / busy());
  }

  /** Waits until a batch is full or `waitMs` have passed. */
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
