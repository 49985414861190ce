/** The queue of runs that an earlier process left unfinished, until `EVAL_MAX_RUNS` allows them. */
interface ResumeQueue {
  readonly count: number;
  has(id: string): boolean;
  /** In the order in which they are to be resumed. */
  add(ids: string[]): void;
  /** The next run; it counts as waiting until it is dropped. */
  take(): string | undefined;
  /** The run is resumed, or will never be. */
  drop(id: string): void;
  dropAll(): void;
  /** Resolves once the run is dropped; `undefined` if it does not wait. */
  changed(id: string): Promise<void> | undefined;
}

/** Holds only ids: a request may have megabytes. */
export function createResumeQueue(): ResumeQueue {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const queue: string[] = [];

  function drop(id: string): void {
    waiting.get(id)?.resolve();
    waiting.delete(id);
  }

  return {
    get count() {
      return waiting.size;
    },
    has: (id) => waiting.has(id),
    add(ids) {
      for (const id of ids) {
        if (waiting.has(id)) continue;
        waiting.set(id, Promise.withResolvers());
        queue.push(id);
      }
    },
    take() {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        if (waiting.has(id)) return id; // the others were dropped
      }
      return undefined;
    },
    drop,
    dropAll: () => [...waiting.keys()].forEach(drop),
    changed: (id) => waiting.get(id)?.promise,
  };
}
