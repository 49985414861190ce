/** How long a provider asks to wait, in milliseconds; 0 if that time has passed. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers.get("retry-after")?.trim() ?? "";
  const seconds = /^-?\d+(\.\d+)?(?=$|\s*,)/.exec(value)?.[0]; // a proxy may have added a second one
  const wait = seconds ? Number(seconds) * 1000 : Date.parse(value) - sentAt(headers);
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** When an answer was sent by the clock of its sender, which may differ from ours. */
function sentAt(headers: Headers): number {
  const moment = Date.parse(headers.get("date") ?? "");
  return Number.isFinite(moment) ? moment : Date.now();
}
