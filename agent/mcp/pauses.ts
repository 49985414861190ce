const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/**
 * The pauses before a server is connected again: each is twice as long as the one before. They start
 * again at `firstMs` after a session of at least `LONGEST_MS`.
 */
export function createRetryPauses(
  { firstMs = FIRST_MS, now = () => performance.now() }: {
    firstMs?: number | undefined;
    now?: () => number;
  } = {},
) {
  let failures = 0;
  let begun = Infinity;
  return {
    /** A session has begun. */
    begin(): void {
      begun = now();
    },
    /** The next pause, in milliseconds, after a session that failed or could not begin. */
    next(): number {
      if (now() - begun >= LONGEST_MS) failures = 0;
      begun = Infinity;
      return Math.min(firstMs * 2 ** failures++, LONGEST_MS);
    },
  };
}

/** The shortest time between two readings of a list, however often the server announces changes. */
const LIST_PAUSE_MS = 1_000;

/**
 * Reads the list of a server again when it has changed, with at least `pauseMs` between two readings.
 * Paused at first.
 */
export function createListRefresh(
  read: () => Promise<void>,
  { pauseMs = LIST_PAUSE_MS }: { pauseMs?: number | undefined },
) {
  let isPaused = true;
  let isReading = false;
  /** The list has changed since its last reading began. */
  let isOutdated = false;
  let readAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** The list has changed. Several changes lead to one reading. */
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
    /** Nothing is read until `resume`, and earlier changes are forgotten. */
    pause(): void {
      isPaused = true;
      isOutdated = false;
      clearTimeout(timer);
      timer = undefined;
    },
    /** Changes that were announced since `pause` are read. */
    resume(): void {
      isPaused = false;
      if (isOutdated) announce();
    },
  };
}
