import { setImmediate } from "node:timers/promises";

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
  const waiting: (() => void)[] = [];
  const failure = new AbortController();
  let room = limit;

  async function enter(): Promise<void> {
    if (room > 0) room--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else room++;
  }

  async function run(work: () => Promise<void>): Promise<void> {
    try {
      failure.signal.throwIfAborted();
      await setImmediate();
      await work();
    } finally {
      leave();
    }
  }

  return {
    async begin(work) {
      await enter();
      const ended = run(work);
      underWay.add(ended);
      ended.catch((error) => failure.abort(error)).finally(() => underWay.delete(ended));
      failure.signal.throwIfAborted();
      return { ended };
    },
    async end() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
      failure.signal.throwIfAborted();
    },
  };
}
