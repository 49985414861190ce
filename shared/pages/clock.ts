import { signal } from "@preact/signals";

const MINUTE_MS = 60_000;

const minutes = signal(0);

/** The present time. What shows it is drawn again each minute, once `followClock` was called. */
export function presentTime(): number {
  void minutes.value; // whoever reads it is told when it changes
  return Date.now();
}

/** Lets time pass on a page that stays open. */
export function followClock(): void {
  setInterval(() => minutes.value++, MINUTE_MS);
}
