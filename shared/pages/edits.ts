/** Whether something differs from what it was; a letter that was typed and deleted is no edit. */
export function differs(now: unknown, before: unknown): boolean {
  return now !== before && JSON.stringify(now, sorted) !== JSON.stringify(before, sorted);
}

/** For `JSON.stringify`: what was taken out and put back may stand elsewhere. */
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1));
}
