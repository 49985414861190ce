import type { CellOf, Job, SharesOf, Simulated } from "./worker.ts";

/** Workers that simulate cells. */
export interface Pool extends Disposable {
  run<K extends Simulated>(job: Job<K>): Promise<SharesOf<K>>;
}

export function createPool(width: number): Pool {
  const workers = Array.from(
    { length: width },
    () => new Worker(new URL("worker.ts", import.meta.url), { type: "module" }),
  );
  const idle = [...workers];
  const waiting: ((worker: Worker) => void)[] = [];
  return {
    async run<K extends Simulated>(job: Job<K>): Promise<SharesOf<K>> {
      const worker = idle.pop() ?? await new Promise<Worker>((resolve) => waiting.push(resolve));
      try {
        const shares = await new Promise<unknown>((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage(job);
        });
        return shares as SharesOf<K>;
      } finally {
        const next = waiting.shift();
        if (next) next(worker);
        else idle.push(worker);
      }
    },
    [Symbol.dispose]: () => workers.forEach((worker) => worker.terminate()),
  };
}

/** Simulates every cell of a grid, each from a seed of its own. */
export async function simulateAll<K extends Simulated>(
  pool: Pool,
  what: K,
  { cells, simulations, seed }: { cells: CellOf<K>[]; simulations: number; seed: number },
): Promise<{ cell: CellOf<K>; shares: SharesOf<K> }[]> {
  return await Promise.all(
    cells.map(async (cell, index) => {
      const sample = { simulations, seed: seed + index };
      return { cell, shares: await pool.run({ what, cell, sample }) };
    }),
  );
}
