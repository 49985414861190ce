/**
 * Sets the clock of this process ahead, or back, until the result is disposed of. Only for what reads
 * the clock by itself, as libraries do: our own code is given a clock.
 */
export function shiftClock(hours: number): Disposable {
  const { now } = Date;
  Date.now = () => now() + hours * 3_600_000;
  return { [Symbol.dispose]: () => void (Date.now = now) };
}
