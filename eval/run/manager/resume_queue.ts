/**
 * The queue of runs that wait to be resumed until `EVAL_MAX_RUNS` allows it. Holds only ids: a
 * request may have megabytes.
 */
export function createResumeQueue() {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const queue: string[] = [];

  /** The run is resumed, or will never be. */
  function drop(id: string): void {
    waiting.get(id)?.resolve();
    waiting.delete(id);
  }

  return {
    get count() {
      return waiting.size;
    },
    has: (id: string) => waiting.has(id),
    /** In the order in which they are to be resumed. */
    add(ids: string[]): void {
      for (const id of ids) {
        if (waiting.has(id)) continue;
        waiting.set(id, Promise.withResolvers());
        queue.push(id);
      }
    },
    /** The next run; it counts as waiting until it is dropped. */
    take(): string | undefined {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        if (waiting.has(id)) return id; // the others were dropped
      }
      return undefined;
    },
    drop,
    dropAll: () => [...waiting.keys()].forEach(drop),
    /** Resolves once the run is dropped; `undefined` if it does not wait. */
    changed: (id: string) => waiting.get(id)?.promise,
  };
}
