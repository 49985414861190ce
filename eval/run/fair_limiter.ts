/** Runs the work once the limit allows it. Rejects if the signal aborts before that. */
export type Limiter = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export type FairLimiter = ReturnType<typeof createFairLimiter>;

/** The running conversations of an endpoint or a run, and when the last of them started. */
interface Share {
  running: number;
  lastServed: number;
}

interface RunShare extends Share {
  /** One callback per waiting conversation, which starts it. */
  waiting: (() => void)[];
}

interface EndpointShare extends Share {
  /** The runs that have a waiting conversation. */
  runs: Set<RunShare>;
}

/** The part of the limit that an endpoint gets even if others have used up all of it. */
const GUARANTEED_PART = 1 / 8;

/**
 * Limits the conversations that the process has at once. Shares the limit between endpoints and, at
 * one endpoint, between runs: the next conversation is one of the endpoint, then of the run, that has
 * the fewest running (of equal ones, the one that waited longest). Conversations with an endpoint
 * that hangs do not end, so each other endpoint may use an eighth of the limit on top of it, all
 * together at most twice the limit. A limit below eight is never exceeded.
 */
export function createFairLimiter(limit: number) {
  const guaranteed = Math.floor(limit * GUARANTEED_PART);
  const endpoints = new Map<string, EndpointShare>();
  let running = 0;
  let served = 0;

  const mayStart = (endpoint: EndpointShare) =>
    running < limit || (endpoint.running < guaranteed && running < 2 * limit);

  const shareOf = (origin: string) =>
    endpoints.getOrInsertComputed(origin, () => ({ running: 0, lastServed: 0, runs: new Set() }));

  function forget(origin: string): void {
    const endpoint = endpoints.get(origin);
    if (endpoint?.running === 0 && endpoint.runs.size === 0) endpoints.delete(origin);
  }

  function startWaiting(): void {
    for (;;) {
      const startable = [...endpoints.values()].filter((endpoint) =>
        endpoint.runs.size > 0 && mayStart(endpoint)
      );
      const endpoint = leastServed(startable);
      const run = endpoint && leastServed([...endpoint.runs]);
      if (!run) return;
      const enter = run.waiting.shift()!;
      if (run.waiting.length === 0) endpoint.runs.delete(run);
      running++;
      for (const share of [endpoint, run]) {
        share.running++;
        share.lastServed = ++served;
      }
      enter();
    }
  }

  /** Resolves once the conversation may start; it counts as running from then on. */
  function wait(origin: string, run: RunShare, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const endpoint = shareOf(origin);
    const enter = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      run.waiting.splice(run.waiting.indexOf(enter), 1);
      if (run.waiting.length === 0) endpoint.runs.delete(run);
      forget(origin);
      reject(signal!.reason);
    };
    run.waiting.push(enter);
    endpoint.runs.add(run);
    signal?.addEventListener("abort", leave, { once: true });
    startWaiting();
    return promise;
  }

  function finish(origin: string, run: RunShare): void {
    running--;
    shareOf(origin).running--;
    run.running--;
    startWaiting();
    forget(origin);
  }

  return {
    /** The limiter of one run against an endpoint; runs without one share a limit as if at one. */
    forRun(url: string | undefined): Limiter {
      const origin = url === undefined ? "" : new URL(url).origin;
      const run: RunShare = { running: 0, lastServed: 0, waiting: [] };
      return async (work, signal) => {
        signal?.throwIfAborted();
        await wait(origin, run, signal);
        try {
          return await work();
        } finally {
          finish(origin, run);
        }
      };
    },
  };
}

function leastServed<T extends Share>(shares: T[]): T | undefined {
  let least: T | undefined;
  for (const share of shares) {
    const isLess = !least || share.running < least.running ||
      (share.running === least.running && share.lastServed < least.lastServed);
    if (isLess) least = share;
  }
  return least;
}
