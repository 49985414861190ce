/** A number of requests in a number of seconds. */
export interface Rate {
  requests: number;
  seconds: number;
}

const SECONDS: Record<string, number> = { s: 1, sec: 1, min: 60, h: 3600, hour: 3600, day: 86_400 };

/** Reads `60/min`; `undefined` if it is not a rate. */
export function parseRate(text: string): Rate | undefined {
  const [, count, unit = ""] = /^(\d{1,9})\/(s|sec|min|h|hour|day)$/.exec(text.trim()) ?? [];
  const seconds = SECONDS[unit];
  const requests = Number(count);
  return seconds && requests >= 1 ? { requests, seconds } : undefined;
}
