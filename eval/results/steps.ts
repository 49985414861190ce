/** Work in steps, so that other work can run in between. */
export type Steps<T> = Generator<void, T>;

/** Does the work in one go. */
export function finish<T>(steps: Steps<T>): T {
  while (true) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the work and awaits `yieldIfDue` after every step; see `createYielder`. */
export async function finishYielding<T>(
  steps: Steps<T>,
  yieldIfDue: () => Promise<void>,
): Promise<T> {
  while (true) {
    const { done, value } = steps.next();
    if (done) return value;
    await yieldIfDue();
  }
}
