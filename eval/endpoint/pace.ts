/** Places at one endpoint, as many as it turns out to take. */
export interface EndpointPace {
  /** Calls allowed at once, at this moment. */
  readonly limit: number;
  /** True while the limit can still be lowered, so that waiting helps. */
  readonly isYielding: boolean;
  /** A place, at once where one is free; rejects when `signal` aborts first. */
  enter(signal: AbortSignal): Place | Promise<Place>;
}

/** A place that is taken. */
export interface Place {
  /** Does the call and gives the place back, whatever comes of it. */
  run<T>(call: () => Promise<T>, isRateLimit: (error: unknown) => boolean): Promise<T>;
}

/**
 * Additive increase, multiplicative decrease, as TCP has it: an endpoint that says 429 gets half the
 * calls at once, and one more for each round that goes well. Calls that were under way when the
 * limit was lowered say nothing new when they are refused too: they lower it once.
 */
export function createEndpointPace(most: number): EndpointPace {
  let limit = most;
  let taken = 0;
  let era = 0;
  const waiting: (() => void)[] = [];

  function admit(): void {
    while (taken < Math.floor(limit) && waiting.length > 0) {
      taken++;
      waiting.shift()!();
    }
  }

  function leave(outcome: "ok" | "limited" | "failed", enteredIn: number): void {
    taken--;
    if (outcome === "ok") limit = Math.min(most, limit + 1 / limit);
    if (outcome === "limited" && enteredIn === era) {
      limit = Math.max(1, limit / 2);
      era++;
    }
    admit();
  }

  function place(): Place {
    const enteredIn = era;
    return {
      async run(call, isRateLimit) {
        let outcome: "ok" | "limited" | "failed" = "failed";
        try {
          const result = await call();
          outcome = "ok";
          return result;
        } catch (error) {
          if (isRateLimit(error)) outcome = "limited";
          throw error;
        } finally {
          leave(outcome, enteredIn);
        }
      },
    };
  }

  return {
    get limit() {
      return limit;
    },
    get isYielding() {
      return limit > 1 || taken > 1;
    },
    enter(signal) {
      signal.throwIfAborted();
      if (waiting.length === 0 && taken < Math.floor(limit)) {
        taken++;
        return place();
      }
      return wait(signal);
    },
  };

  async function wait(signal: AbortSignal): Promise<Place> {
    const turn = Promise.withResolvers<void>();
    const giveUp = () => {
      const at = waiting.indexOf(turn.resolve);
      if (at < 0) return; // it was let in at the same moment, and goes on from there
      waiting.splice(at, 1);
      turn.reject(signal.reason);
    };
    waiting.push(turn.resolve);
    signal.addEventListener("abort", giveUp, { once: true });
    await turn.promise.finally(() => signal.removeEventListener("abort", giveUp));
    return place();
  }
}
