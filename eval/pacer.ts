/** How long a run may keep the event loop to itself before others get their turn. */
const STRETCH_MS = 10;

/**
 * Returns a function to await between pieces of work: it lets the event loop turn once enough time
 * has passed, and costs nothing before. Work that never waits for I/O (a dead endpoint's ten
 * thousand refusals) would otherwise hold the process.
 */
export function createPacer(now: () => number = () => performance.now()): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < STRETCH_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    since = now();
  };
}
