/** Runs the work once the limit allows it. Rejects if the signal aborts before that. */
export type Limiter = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Limits the conversations that the process has at once. */
export interface FairLimiter {
  /** The limiter of one run against an endpoint. */
  forRun(endpoint: string): Limiter;
}

/** One waiting conversation; `enter` starts it. */
interface Waiting {
  enter: () => void;
}

/** The running conversations of an endpoint or a run, and when the last of them started. */
interface Share {
  running: number;
  lastServed: number;
}

interface RunShare extends Share {
  waiting: Waiting[];
}

interface EndpointShare extends Share {
  runs: Set<RunShare>;
}

/** The part of the limit that an endpoint gets even if others have used up all of it. */
const GUARANTEED_PART = 1 / 8;

/**
 * Shares the limit between endpoints and, at one endpoint, between runs: the next conversation is
 * one of the endpoint, then of the run, that has the fewest running (of equal ones, the one that
 * waited longest). An endpoint that hangs ends none, so each other endpoint may have an eighth of
 * the limit beyond it, all together at most twice the limit. A limit below eight is never exceeded.
 */
export function createFairLimiter(limit: number): FairLimiter {
  const guaranteed = Math.floor(limit * GUARANTEED_PART);
  const endpoints = new Map<string, EndpointShare>();
  let running = 0;
  let served = 0;

  const mayStart = (endpoint: EndpointShare) =>
    running < limit || (endpoint.running < guaranteed && running < 2 * limit);

  function start(origin: string, run: RunShare): void {
    const endpoint = shareOf(origin);
    running++;
    for (const share of [endpoint, run]) {
      share.running++;
      share.lastServed = ++served;
    }
  }

  function shareOf(origin: string): EndpointShare {
    let endpoint = endpoints.get(origin);
    if (!endpoint) {
      endpoint = { running: 0, lastServed: 0, runs: new Set() };
      endpoints.set(origin, endpoint);
    }
    return endpoint;
  }

  function finish(origin: string, run: RunShare): void {
    const endpoint = shareOf(origin);
    running--;
    endpoint.running--;
    run.running--;
    startWaiting();
    forget(origin);
  }

  function startWaiting(): void {
    for (;;) {
      const waiting = [...endpoints.values()].filter((endpoint) =>
        endpoint.runs.size > 0 && mayStart(endpoint)
      );
      const endpoint = leastServed(waiting);
      const run = endpoint && leastServed([...endpoint.runs]);
      if (!run) return;
      const next = run.waiting.shift()!;
      if (run.waiting.length === 0) endpoint.runs.delete(run);
      next.enter();
    }
  }

  function forget(origin: string): void {
    const endpoint = endpoints.get(origin);
    if (endpoint?.running === 0 && endpoint.runs.size === 0) endpoints.delete(origin);
  }

  /** Resolves once the conversation may start, and counts it as running. */
  function wait(origin: string, run: RunShare, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const endpoint = shareOf(origin);
      const waiting: Waiting = {
        enter() {
          signal?.removeEventListener("abort", leave);
          start(origin, run);
          resolve();
        },
      };
      const leave = () => {
        run.waiting.splice(run.waiting.indexOf(waiting), 1);
        if (run.waiting.length === 0) endpoint.runs.delete(run);
        forget(origin);
        reject(signal!.reason);
      };
      run.waiting.push(waiting);
      endpoint.runs.add(run);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  return {
    forRun(url) {
      const { origin } = new URL(url);
      const run: RunShare = { running: 0, lastServed: 0, waiting: [] };
      return async (work, signal) => {
        signal?.throwIfAborted();
        // Those that wait for the endpoint come first; none that waits for another could start now.
        const endpoint = shareOf(origin);
        if (endpoint.runs.size === 0 && mayStart(endpoint)) start(origin, run);
        else await wait(origin, run, signal);
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
