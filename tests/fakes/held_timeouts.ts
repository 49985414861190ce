/** Timers of this length and more are held. Give it as timeout to calls of which some hang. */
export const HELD_MS = 3_600_000;

/** The client may read what came before a hang. No outcome depends on it. */
const READING_MS = 100;

type Timer = ReturnType<typeof setTimeout>;

export interface HeldTimeouts extends Disposable {
  /** Timers that are held now. */
  readonly running: number;
  /** Tells that one of the calls hangs. */
  hangs(): void;
}

/**
 * Long timers of this process fire once all of them belong to calls that hang: these time out at
 * once, and no others do, however slow the machine is.
 */
export function holdTimeouts(): HeldTimeouts {
  const original = { setTimeout, clearTimeout };
  const { setTimeout: start, clearTimeout: stop } = original; // as methods they fail (2.7.7)
  const held = new Map<Timer, () => void>();
  let hanging = 0;
  let fire: Timer | undefined;

  const isTime = () => hanging > 0 && held.size === hanging;
  function look(): void {
    if (fire !== undefined || !isTime()) return;
    fire = start(() => {
      fire = undefined;
      if (!isTime()) return;
      hanging = 0;
      for (const [id, callback] of [...held]) {
        release(id);
        callback();
      }
    }, READING_MS);
  }
  function release(id: Timer): void {
    stop(id);
    held.delete(id);
  }

  globalThis.setTimeout =
    ((listener: (...rest: unknown[]) => void, ms?: number, ...rest: unknown[]) => {
      const callback = () => listener(...rest);
      const id = start(callback, ms);
      // The time left of such a timeout is a moment less.
      if (ms !== undefined && ms > 0.9 * HELD_MS) held.set(id, callback);
      return id;
    }) as typeof setTimeout;
  globalThis.clearTimeout = ((id?: Timer) => {
    if (id === undefined || !held.has(id)) return stop(id);
    release(id);
    look();
  }) as typeof clearTimeout;

  return {
    get running() {
      return held.size;
    },
    hangs() {
      hanging++;
      look();
    },
    [Symbol.dispose]() {
      stop(fire);
      Object.assign(globalThis, original);
    },
  };
}
