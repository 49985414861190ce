/** Knows which runs are being read. */
export interface KeptRuns {
  keep(runId: string): Disposable;
  isKept(runId: string): boolean;
  /** Says that the run was deleted while it was kept: its turns are to go with its last reader. */
  condemn(runId: string): void;
}

/** `release` is called for a condemned run once nobody reads it any more. */
export function createKeptRuns(release: (runId: string) => void): KeptRuns {
  const readers = new Map<string, number>();
  const condemned = new Set<string>();

  function leave(runId: string): void {
    const left = readers.get(runId)! - 1;
    if (left > 0) return void readers.set(runId, left);
    readers.delete(runId);
    if (condemned.delete(runId)) release(runId);
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
    condemn: (runId) => void condemned.add(runId),
  };
}
