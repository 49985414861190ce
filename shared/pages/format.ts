import { signal } from "@preact/signals";

const LOCALE = "en";

const integers = new Intl.NumberFormat(LOCALE);
const compact = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });
const amounts = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 3 });
const dateTimes = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
const days = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });
const times = new Intl.DateTimeFormat(LOCALE, { timeStyle: "short" });
const ages = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto", style: "short" });

/** `1,234`. */
export function formatCount(count: number): string {
  return integers.format(count);
}

/** `27.3K`. */
export function formatCompact(count: number): string {
  return compact.format(count);
}

/** `2.1 kB`, `12 MB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = bytes < 1e6 ? ["kB", 1e3] as const : ["MB", 1e6] as const;
  return bytes < 1e3 ? `${bytes} bytes` : `${amounts.format(bytes / size)} ${unit}`;
}

/** A score or a ratio with two digits, `0.79`; a dash if there is none. */
export function formatScore(score: number | null | undefined, digits = 2): string {
  if (score === null || score === undefined) return "–";
  return new Intl.NumberFormat(LOCALE, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(score).replace("-", "−");
}

/** A number that somebody chose, such as a threshold, with all its digits: `0.70`, `0.725`. */
export function formatChosen(value: number): string {
  return new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 20 })
    .format(value);
}

/** `$0.0042`, `€12.30`. */
export function formatMoney({ amount, currency }: { amount: number; currency: string }): string {
  return new Intl.NumberFormat(LOCALE, {
    style: "currency",
    currency,
    ...(amount < 1
      ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 }
      : { minimumFractionDigits: 2 }),
  }).format(amount);
}

/** `84 ms`, `1.2 s`, `41 s`, `3 min 5 s`, `2 h 4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${formatScore(seconds, 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return pair([Math.floor(whole / 60), "min"], [whole % 60, "s"]);
  return pair([Math.floor(whole / 3600), "h"], [Math.floor((whole % 3600) / 60), "min"]);
}

function pair([large, largeUnit]: [number, string], [small, smallUnit]: [number, string]): string {
  const first = `${formatCount(large)} ${largeUnit}`;
  return small > 0 ? `${first} ${small} ${smallUnit}` : first;
}

/** `Nov 15, 2026`, in the person's time zone. */
export function formatDay(time: number | string | Date): string {
  return days.format(new Date(time));
}

/** `3:04 PM`, in the person's time zone. */
export function formatTime(time: number | string | Date): string {
  return times.format(new Date(time));
}

/** `Nov 15, 2026, 3:04 PM`, in the person's time zone. */
export function formatDateTime(time: number | string | Date): string {
  return dateTimes.format(new Date(time));
}

const AGES: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

const minutes = signal(0);

/** Draws what shows an age again each minute, on a page that stays open. */
export function followClock(): void {
  setInterval(() => minutes.value++, 60_000);
}

function presentTime(): number {
  void minutes.value; // subscribes the reader to its changes
  return Date.now();
}

/** `5 min. ago`; the date after a week. `now` is in milliseconds. */
export function formatAge(time: number | string | Date, now: number = presentTime()): string {
  const age = now - new Date(time).getTime();
  if (age > 7 * 86_400_000) return formatDateTime(time);
  for (const [unit, ms] of AGES) {
    if (age >= ms) return ages.format(-Math.floor(age / ms), unit);
  }
  return "just now";
}

/** `1 model call`, `2 model calls`. */
export function formatNumberOf(count: number, one: string, many: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
