/**
 * Makes single calls into batches: while one batch is under way the next gathers, so that nothing
 * waits for a batch to be full. Up to `lanes` batches run side by side, and a further one begins
 * only when more than a batch is waiting. A batch that fails fails each of its calls.
 */
export function createBatcher<Input, Output>(
  run: (inputs: Input[], lane: number) => Promise<Output[]>,
  { size, lanes = 1 }: { size: number; lanes?: number },
): (input: Input) => Promise<Output> {
  const queue: { input: Input; result: PromiseWithResolvers<Output> }[] = [];
  const isBusy: boolean[] = new Array(lanes).fill(false);

  async function drain(lane: number): Promise<void> {
    isBusy[lane] = true;
    await Promise.resolve(); // calls of the same moment go together
    while (queue.length > 0) {
      const batch = queue.splice(0, size);
      try {
        const outputs = await run(batch.map(({ input }) => input), lane);
        batch.forEach(({ result }, index) => result.resolve(outputs[index]!));
      } catch (error) {
        for (const { result } of batch) result.reject(error);
      }
    }
    isBusy[lane] = false;
  }

  return (input) => {
    const result = Promise.withResolvers<Output>();
    queue.push({ input, result });
    const lane = isBusy.indexOf(false);
    const isNeeded = lane === 0 || queue.length > size;
    if (lane >= 0 && isNeeded) drain(lane);
    return result.promise;
  };
}
