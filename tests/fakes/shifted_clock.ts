/**
 * Sets the clock of this process ahead, or back, until the result is disposed of. Only for what reads
 * the clock by itself, as libraries do: our own code is given a clock.
 */
export function shiftClock(hours: number): Disposable & { set(hours: number): void } {
  const { now } = Date;
  let shift = hours;
  Date.now = () => now() + shift * 3_600_000;
  return {
    /** Also for code that has taken `Date.now` since the clock was shifted. */
    set: (hours) => void (shift = hours),
    [Symbol.dispose]: () => void (Date.now = now),
  };
}
