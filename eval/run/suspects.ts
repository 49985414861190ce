import { setImmediate } from "node:timers/promises";

/** Replies whose scoring may have ended a process. */
export interface Suspects {
  /** Scores one of them once no other is being scored. */
  score<T>(tries: number, work: () => Promise<T>): Promise<T>;
}

interface Waiting {
  tries: number;
  begin: () => Promise<void>;
}

/**
 * Scores suspects one by one, those first that were tried least: whatever ends the process, a crash
 * of our own or a kill from outside, is counted for one reply only, and seldom for the same again.
 */
export function createSuspects(): Suspects {
  const queue: Waiting[] = [];
  let isWorking = false;

  async function drain(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    while (queue.length > 0) {
      await setImmediate(); // so that those who come together are all there to choose from
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
