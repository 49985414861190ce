const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** The pauses before a server is connected again: each is twice as long as the one before. */
interface RetryPauses {
  /** A session has begun. */
  begin(): void;
  /** The next pause, in milliseconds, after a session that failed or could not begin. */
  next(): number;
}

/** The pauses start again at `firstMs` after a session of at least `LONGEST_MS`. */
export function createRetryPauses(
  { firstMs = FIRST_MS, now = () => performance.now() }: {
    firstMs?: number | undefined;
    now?: () => number;
  } = {},
): RetryPauses {
  let failures = 0;
  let begun = Infinity;
  return {
    begin() {
      begun = now();
    },
    next() {
      if (now() - begun >= LONGEST_MS) failures = 0;
      begun = Infinity;
      return Math.min(firstMs * 2 ** failures++, LONGEST_MS);
    },
  };
}
