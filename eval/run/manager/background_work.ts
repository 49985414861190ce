import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import { createYielder } from "../../../shared/yielder.ts";

/** Work of a run in the background, so many pieces at once. */
export interface BackgroundWork {
  /** Waits until there is room, and starts the piece; `ended` is its end. */
  begin(work: () => Promise<void>): Promise<{ ended: Promise<void> }>;
  /** Waits for all pieces. */
  end(): Promise<void>;
}

/**
 * If a piece fails, each later `begin` and `end` rejects. A piece starts when the event loop has
 * nothing else to do: if many replies arrive together, the next questions are sent first, and the
 * replies are assessed while the endpoint is busy.
 */
export function createBackgroundWork(limit: number): BackgroundWork {
  const underWay = new Set<Promise<void>>();
  const failure = new AbortController();
  const withinLimit = pLimit(limit);
  const yieldIfDue = createYielder();

  return {
    async begin(work) {
      const started = Promise.withResolvers<void>();
      const ended = withinLimit(async () => {
        started.resolve();
        failure.signal.throwIfAborted();
        await setImmediate();
        while (yieldIfDue.isDue()) await yieldIfDue(); // long replies take some milliseconds each
        await work();
      });
      underWay.add(ended);
      ended.catch((error) => failure.abort(error)).finally(() => underWay.delete(ended));
      await started.promise;
      failure.signal.throwIfAborted();
      return { ended };
    },
    async end() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
      failure.signal.throwIfAborted();
    },
  };
}
