/** Reads the list of a server again when it has changed. */
interface ListRefresh {
  /** The list has changed. Several changes lead to one reading. */
  announce(): void;
  /** Nothing is read until `resume`, and earlier changes are forgotten. */
  pause(): void;
  /** Changes that were announced since `pause` are read. */
  resume(): void;
}

/**
 * Paused at first. Between two readings are at least `pauseMs`, however often a server announces
 * changes.
 */
export function createListRefresh(
  read: () => Promise<void>,
  { pauseMs }: { pauseMs: number },
): ListRefresh {
  let isPaused = true;
  let isReading = false;
  /** The list has changed since its last reading began. */
  let isOutdated = false;
  let readAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function announce(): void {
    if (isPaused || isReading) isOutdated = true;
    else timer ??= setTimeout(readNow, Math.max(0, readAt + pauseMs - performance.now()));
  }

  async function readNow(): Promise<void> {
    timer = undefined;
    isReading = true;
    isOutdated = false;
    try {
      await read();
    } finally {
      isReading = false;
      readAt = performance.now();
      if (isOutdated) announce();
    }
  }

  return {
    announce,
    pause() {
      isPaused = true;
      isOutdated = false;
      clearTimeout(timer);
      timer = undefined;
    },
    resume() {
      isPaused = false;
      if (isOutdated) announce();
    },
  };
}
