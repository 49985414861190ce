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

/** The event loop. All yielders share it: the work of several requests is one stretch. */
interface SharedLoop {
  now(): number;
  /** When a yielder last let it run. */
  ranAt: number;
}

const LOOP: SharedLoop = { now: () => performance.now(), ranAt: 0 };

/**
 * Lets the event loop run once 10 ms have passed, and costs nothing before. Work that never waits
 * for I/O (ten thousand refusals of a dead endpoint, a turn of calculator calls) would otherwise
 * block the process.
 */
export function createYielder(loop: SharedLoop = LOOP): Yielder {
  const createdAt = loop.now();
  const isDue = () => loop.now() - Math.max(createdAt, loop.ranAt) >= STRETCH_MS;
  const yieldIfDue = async () => {
    if (!isDue()) return;
    const before = loop.ranAt;
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (loop.ranAt === before) loop.ranAt = loop.now(); // else another yielder has set it
  };
  return Object.assign(yieldIfDue, { isDue });
}
