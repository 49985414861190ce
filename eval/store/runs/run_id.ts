/**
 * Creates the ids of runs: UUIDs of version 7, which sort as text in the order of their creation,
 * also within one millisecond and after the clock is set back. `now` is milliseconds since 1970;
 * `after` is the last id of earlier processes, if there is one.
 */
export function createRunIds(now: () => number, after = ""): () => string {
  let last = momentOf(after) || 0; // NaN for an id that was not made here
  let counter = parseInt(after.slice(15, 18), 16) || 0;
  return () => {
    const moment = now();
    if (moment > last) {
      last = moment;
      counter = 0;
    } else if (++counter > 0xfff) {
      last++; // borrows from the next millisecond
      counter = 0;
    }
    const random = crypto.randomUUID(); // its last two groups are already in the RFC's variant
    const time = last.toString(16).padStart(12, "0");
    const count = counter.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${random.slice(19)}`;
  };
}

/** When an id was made, in milliseconds since 1970; later than that if the clock was set back. */
export function momentOf(id: string): number {
  return parseInt(id.replace("-", "").slice(0, 12), 16);
}
