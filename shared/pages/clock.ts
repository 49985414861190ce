import { signal } from "@preact/signals";

const MINUTE_MS = 60_000;

const minutes = signal(0);

/** The present time. What shows it is drawn again each minute, once `followClock` was called. */
export function presentTime(): number {
  void minutes.value; // subscribes the reader to its changes
  return Date.now();
}

/** Updates the time on a page that stays open. */
export function followClock(): void {
  setInterval(() => minutes.value++, MINUTE_MS);
}
