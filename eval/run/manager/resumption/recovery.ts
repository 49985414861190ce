const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/** Retries work that a storage fault has stopped, until it succeeds. */
interface Recovery {
  /** `id` names the work; later work of the same name replaces it. */
  later(id: string, work: () => Promise<void>): void;
  /** Gives up the remaining work. */
  stop(): void;
}

/** The first try comes after `delayMs`; each failure doubles the wait, up to a minute. */
export function createRecovery({ delayMs = FIRST_DELAY_MS } = {}): Recovery {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  let isStopped = false;

  function schedule(id: string, work: () => Promise<void>, ms: number): void {
    clearTimeout(timers.get(id));
    if (isStopped) return;
    const timer = setTimeout(async () => {
      try {
        await work();
        if (timers.get(id) === timer) timers.delete(id);
      } catch {
        if (timers.get(id) === timer) schedule(id, work, Math.min(ms * 2, LONGEST_DELAY_MS));
      }
    }, ms);
    timers.set(id, timer);
  }

  return {
    later: (id, work) => schedule(id, work, delayMs),
    stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
