/** Waits for a place, does the work in it and gives it back. Rejects if the signal aborts first. */
export type Slot = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** The process's places for conversations. */
export interface FairSlots {
  /** The places as one run sees them. */
  forRun(endpoint: string): Slot;
}

/** One waiting conversation; `enter` lets it in. */
interface Waiting {
  enter: () => void;
}

/** What has places, and when it got its last one: whoever has fewest comes first, then the longest. */
interface Share {
  held: number;
  lastServed: number;
}

interface RunShare extends Share {
  waiting: Waiting[];
}

interface EndpointShare extends Share {
  runs: Set<RunShare>;
}

/** The part of the places that an endpoint gets even if others hold all of them. */
const GUARANTEED_PART = 1 / 8;

/**
 * Shares places between endpoints and, at one endpoint, between runs: a place that becomes free goes
 * to the endpoint, then to the run, that has fewest. An endpoint that hangs gives none back, so
 * another one may have an eighth of the places beyond their number, and all together at most twice
 * the number. Fewer than eight places are never exceeded.
 */
export function createFairSlots(places: number): FairSlots {
  const guaranteed = Math.floor(places * GUARANTEED_PART);
  const endpoints = new Map<string, EndpointShare>();
  let taken = 0;
  let served = 0;

  const isAdmitted = ({ held }: EndpointShare) =>
    taken < places || (held < guaranteed && taken < 2 * places);

  function take(origin: string, run: RunShare): void {
    const endpoint = shareOf(origin);
    taken++;
    for (const share of [endpoint, run]) {
      share.held++;
      share.lastServed = ++served;
    }
  }

  function shareOf(origin: string): EndpointShare {
    let endpoint = endpoints.get(origin);
    if (!endpoint) {
      endpoint = { held: 0, lastServed: 0, runs: new Set() };
      endpoints.set(origin, endpoint);
    }
    return endpoint;
  }

  function giveBack(origin: string, run: RunShare): void {
    const endpoint = shareOf(origin);
    taken--;
    endpoint.held--;
    run.held--;
    admit();
    forget(origin);
  }

  function admit(): void {
    for (;;) {
      const waiting = [...endpoints.values()].filter((endpoint) =>
        endpoint.runs.size > 0 && isAdmitted(endpoint)
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
    if (endpoint?.held === 0 && endpoint.runs.size === 0) endpoints.delete(origin);
  }

  /** Resolves with a place taken. */
  function wait(origin: string, run: RunShare, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const endpoint = shareOf(origin);
      const waiting: Waiting = {
        enter() {
          signal?.removeEventListener("abort", leave);
          take(origin, run);
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
      const run: RunShare = { held: 0, lastServed: 0, waiting: [] };
      return async (work, signal) => {
        signal?.throwIfAborted();
        // Whoever waits at the endpoint goes first; at the others nobody waits that could enter.
        const endpoint = shareOf(origin);
        if (endpoint.runs.size === 0 && isAdmitted(endpoint)) take(origin, run);
        else await wait(origin, run, signal);
        try {
          return await work();
        } finally {
          giveBack(origin, run);
        }
      };
    },
  };
}

function leastServed<T extends Share>(shares: T[]): T | undefined {
  let least: T | undefined;
  for (const share of shares) {
    const isLess = !least || share.held < least.held ||
      (share.held === least.held && share.lastServed < least.lastServed);
    if (isLess) least = share;
  }
  return least;
}
