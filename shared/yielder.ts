/** How long work may block the event loop. */
const STRETCH_MS = 10;

/** To be awaited between pieces of work. */
export interface Yielder {
  (): Promise<void>;
  /**
   * True once the event loop should run. For pieces that start side by side: they write
   * `while (yielder.isDue()) await yielder();` right before each, so that no two share a stretch.
   */
  isDue(): boolean;
}

/**
 * Lets the event loop run once 10 ms have passed, and costs nothing before. Work that never waits
 * for I/O (ten thousand refusals of a dead endpoint, a turn of calculator calls) would otherwise
 * block the process.
 */
export function createYielder(now: () => number = () => performance.now()): Yielder {
  let since = now();
  const isDue = () => now() - since >= STRETCH_MS;
  const yieldIfDue = async () => {
    if (!isDue()) return;
    const before = since;
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (since === before) since = now(); // else another piece has had this turn
  };
  return Object.assign(yieldIfDue, { isDue });
}
