import { setImmediate } from "node:timers";

/** Work in the background, one piece at a time. */
export interface BackgroundWork {
  /** Waits for the piece before, and starts this one; `ended` is its end. */
  begin(work: () => Promise<void>): Promise<{ ended: Promise<void> }>;
  /** Waits for the last piece. */
  end(): Promise<void>;
}

/**
 * At most one piece is running; if it fails, the next `begin` or `end` rejects. A piece starts when
 * the event loop has nothing else to do: if many replies arrive together, the next questions are
 * sent first, and the replies are assessed while the endpoint is busy.
 */
export function createBackgroundWork(): BackgroundWork {
  let last = Promise.resolve();
  return {
    async begin(work) {
      await last;
      last = new Promise<void>((resolve) => setImmediate(resolve)).then(work);
      last.catch(() => {});
      return { ended: last };
    },
    end: () => last,
  };
}
