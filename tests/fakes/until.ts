/**
 * Waits until a condition holds, and returns what it gave. It is asked again after 1 ms,
 * later every 10 ms, because many conditions are requests.
 * After `within` milliseconds it throws: `what` says what did not happen, if the condition's own
 * text does not.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { within = 30_000, what }: { within?: number; what?: string | (() => string) } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + within;
  for (let pause = 1;; pause = Math.min(pause + 1, 10)) {
    const value = await condition();
    if (value) return value as Exclude<T, undefined | null | false>;
    if (performance.now() > deadline) {
      const text = typeof what === "function" ? what() : what ?? String(condition);
      throw new Error(`did not happen within ${within / 1000} s: ${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
