/**
 * Creates the ids of runs: UUIDs of version 7, which sort as text in the order of their creation,
 * also within one millisecond and after the clock is set back. `now` is milliseconds since 1970.
 */
export function createRunIds(now: () => number): () => string {
  let last = 0;
  let counter = 0;
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
