import { setImmediate } from "node:timers/promises";

/** Scores replies that may have crashed an earlier process. */
export interface Suspects {
  /** Runs `work` when no other one is running. `tries`: how often it was started before. */
  score<T>(tries: number, work: () => Promise<T>): Promise<T>;
}

interface Waiting {
  tries: number;
  begin: () => Promise<void>;
}

/**
 * Scores suspects one by one, those with the fewest tries first: whatever ends the process, a crash
 * or a kill from outside, counts for one reply only, and seldom for the same one twice.
 */
export function createSuspects(): Suspects {
  const queue: Waiting[] = [];
  let isWorking = false;

  async function drain(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    while (queue.length > 0) {
      await setImmediate(); // so that all that arrive together can be compared
      const fewest = queue.reduce((least, one) => one.tries < least.tries ? one : least);
      queue.splice(queue.indexOf(fewest), 1);
      await fewest.begin();
    }
    isWorking = false;
  }

  return {
    score<T>(tries: number, work: () => Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      queue.push({ tries, begin: () => work().then(resolve, reject) });
      drain();
      return promise;
    },
  };
}
