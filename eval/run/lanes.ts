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
