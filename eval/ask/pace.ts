/** Limits the concurrent calls to one endpoint, and adapts the limit to its answers. */
export type EndpointPace = ReturnType<typeof createEndpointPace>;

/**
 * Additive increase, multiplicative decrease, as in TCP: an endpoint that answers 429 gets half as
 * many concurrent calls, and one more for each round that succeeds. A 429 to a call that started
 * before the limit was last lowered does not lower it again.
 */
export function createEndpointPace(
  maxLimit: number,
  { onLowered = () => {} }: { onLowered?: (limit: number) => void } = {},
) {
  let limit = maxLimit;
  let running = 0;
  /** How often the limit was lowered. */
  let cuts = 0;
  const waiting: (() => void)[] = [];

  function startWaiting(): void {
    while (running < Math.floor(limit) && waiting.length > 0) {
      running++;
      waiting.shift()!();
    }
  }

  function finish(outcome: "ok" | "limited" | "failed", cutsAtStart: number): void {
    running--;
    if (outcome === "ok") limit = Math.min(maxLimit, limit + 1 / limit);
    if (outcome === "limited" && cutsAtStart === cuts) {
      limit = Math.max(1, limit / 2);
      cuts++;
      onLowered(limit);
    }
    startWaiting();
  }

  /** Resolves once the call counts as running. */
  async function wait(signal: AbortSignal): Promise<void> {
    const permitted = Promise.withResolvers<void>();
    const giveUp = () => {
      const at = waiting.indexOf(permitted.resolve);
      if (at < 0) return; // it was permitted at the same moment
      waiting.splice(at, 1);
      permitted.reject(signal.reason);
    };
    waiting.push(permitted.resolve);
    signal.addEventListener("abort", giveUp, { once: true });
    await permitted.promise.finally(() => signal.removeEventListener("abort", giveUp));
  }

  return {
    /** Concurrent calls that are allowed at this moment. */
    get limit(): number {
      return limit;
    },
    /** True while the limit can still be lowered, so that waiting helps. */
    get isYielding(): boolean {
      return limit > 1 || running > 1;
    },
    /** True while calls are running. */
    get isUsed(): boolean {
      return running > 0;
    },
    /** Lowers the limit, because the endpoint answered 429 to another process. */
    lower(other: number): void {
      if (other >= limit) return;
      limit = Math.max(1, other);
      cuts++;
    },
    /** Makes the call once the limit allows it; rejects if `signal` aborts while it waits. */
    async run<T>(
      call: () => Promise<T>,
      { signal, isRateLimit }: { signal: AbortSignal; isRateLimit: (error: unknown) => boolean },
    ): Promise<T> {
      signal.throwIfAborted();
      if (waiting.length === 0 && running < Math.floor(limit)) running++;
      else await wait(signal);
      const cutsAtStart = cuts;
      let outcome: "ok" | "limited" | "failed" = "failed";
      try {
        const result = await call();
        outcome = "ok";
        return result;
      } catch (error) {
        if (isRateLimit(error)) outcome = "limited";
        throw error;
      } finally {
        finish(outcome, cutsAtStart);
      }
    },
  };
}

/** Callers choose the endpoints, so the number of remembered ones is bounded. */
const MAX_ENDPOINTS = 256;

/** Tells processes of the limits that others had to lower. */
export interface PaceBoard {
  tell(origin: string, limit: number): void;
  /** `origins` are those that this process calls at the moment. */
  listen(origins: () => Iterable<string>, onLowered: (origin: string, limit: number) => void): void;
}

/** One pace per origin, shared by all runs against it; with `board`, by other processes too. */
export function createEndpointPaces(
  maxLimit: number,
  board?: PaceBoard,
): (endpoint: string) => EndpointPace {
  const paces = new Map<string, EndpointPace>();
  const used = () => paces.entries().filter(([, pace]) => pace.isUsed).map(([origin]) => origin);
  board?.listen(used, (origin, limit) => paces.get(origin)?.lower(limit));

  const create = (origin: string) =>
    createEndpointPace(maxLimit, { onLowered: (limit) => board?.tell(origin, limit) });

  return (endpoint) => {
    const { origin } = new URL(endpoint);
    const pace = paces.get(origin) ?? create(origin);
    paces.delete(origin); // and set again: the first key is the least recently used one
    paces.set(origin, pace);
    const [oldest] = paces.keys();
    if (paces.size > MAX_ENDPOINTS && oldest !== undefined) paces.delete(oldest);
    return pace;
  };
}
