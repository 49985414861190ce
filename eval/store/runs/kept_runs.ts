/** Tracks which runs are being read. */
interface KeptRuns {
  keep(runId: string): Disposable;
  isKept(runId: string): boolean;
  /** Marks a run that was deleted while it was read: it is released after its last reader. */
  markDeleted(runId: string): void;
}

/** `release` is called for a run that is marked as deleted and has no reader any more. */
export function createKeptRuns(release: (runId: string) => void): KeptRuns {
  const readers = new Map<string, number>();
  const deleted = new Set<string>();

  function leave(runId: string): void {
    const left = readers.get(runId)! - 1;
    if (left > 0) return void readers.set(runId, left);
    readers.delete(runId);
    if (deleted.delete(runId)) release(runId);
  }

  return {
    keep(runId) {
      readers.set(runId, (readers.get(runId) ?? 0) + 1);
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (isHeld) leave(runId);
          isHeld = false;
        },
      };
    },
    isKept: (runId) => readers.has(runId),
    markDeleted(runId) {
      if (readers.has(runId)) deleted.add(runId);
      else release(runId);
    },
  };
}
