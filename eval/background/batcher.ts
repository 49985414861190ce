/**
 * Makes single calls into batches: while one batch is under way the next gathers, so that nothing
 * waits for a batch to be full. A batch that fails fails each of its calls.
 */
export function createBatcher<Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  { size }: { size: number },
): (input: Input) => Promise<Output> {
  const queue: { input: Input; result: PromiseWithResolvers<Output> }[] = [];
  let isRunning = false;

  async function drain(): Promise<void> {
    isRunning = true;
    await Promise.resolve(); // calls of the same moment go together
    while (queue.length > 0) {
      const batch = queue.splice(0, size);
      try {
        const outputs = await run(batch.map(({ input }) => input));
        batch.forEach(({ result }, index) => result.resolve(outputs[index]!));
      } catch (error) {
        for (const { result } of batch) result.reject(error);
      }
    }
    isRunning = false;
  }

  return (input) => {
    const result = Promise.withResolvers<Output>();
    queue.push({ input, result });
    if (!isRunning) drain();
    return result.promise;
  };
}
