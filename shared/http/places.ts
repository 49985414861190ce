import { AppError } from "../errors.ts";

/** A number of places for work that costs something while it is under way. */
export interface Places {
  /** Taken now. */
  readonly taken: number;
  /**
   * Takes a place and returns the function that gives it back (once, however often it is called).
   * Throws 503 `overloaded` where there is none: whoever waits in a queue without end has left by
   * the time it is served.
   */
  take(): () => void;
}

const RETRY_AFTER_SECONDS = 2;

/** `what` stands in the refusal: `runs`, `requests`. */
export function createPlaces({ limit, what }: { limit: number; what: string }): Places {
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    take() {
      if (taken >= limit) throw overloaded(`${limit} ${what} are under way`);
      taken++;
      let isHeld = true;
      return () => {
        if (isHeld) taken--;
        isHeld = false;
      };
    },
  };
}

/** 503 for whoever would have to wait; `reason` says for what. */
export function overloaded(reason: string): AppError {
  return new AppError(503, "overloaded", `cannot take more for now: ${reason}`, {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}
