import { setImmediate } from "node:timers";

/** Work that goes on in the background, one piece at a time. */
export interface Lane {
  /** Begins once the piece before has ended, and does not wait for its own end. */
  begin(work: () => Promise<void>): Promise<void>;
  end(): Promise<void>;
}

/**
 * One piece behind, never more: whoever begins the next waits for it, and is told if it failed. A
 * piece begins once nothing else is at hand: where many replies come together, the next questions
 * go out first, and the replies are looked at while the endpoint is busy with them.
 */
export function createLane(): Lane {
  let last = Promise.resolve();
  return {
    async begin(work) {
      await last;
      last = leisure().then(work);
      last.catch(() => {});
    },
    end: () => last,
  };
}

const leisure = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Places to converse in. Who still waits for one when the run ends does not wait on. */
export function createPlaces(
  slot: <T>(work: () => Promise<T>) => Promise<T>,
  signal: AbortSignal,
) {
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  ended.catch(() => {}); // told to those who wait
  return async (work: () => Promise<void>): Promise<void> => {
    const begun = Promise.withResolvers<void>();
    const done = slot(async () => {
      begun.resolve();
      if (!signal.aborted) await work();
    });
    await Promise.race([begun.promise, ended]);
    await done;
  };
}
