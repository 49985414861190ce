/** Work in steps, so that other work can run in between. */
export type Steps<T> = Generator<void, T>;

/** Does the work in one go. */
export function finish<T>(steps: Steps<T>): T {
  while (true) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the work and awaits `pace` after every step; see `createPacer`. */
export async function finishPaced<T>(steps: Steps<T>, pace: () => Promise<void>): Promise<T> {
  while (true) {
    const { done, value } = steps.next();
    if (done) return value;
    await pace();
  }
}
