/** Whether something differs from what it was; a letter that was typed and deleted is no edit. */
export function differs<T>(now: T, before: T): boolean {
  return now !== before && JSON.stringify(now) !== JSON.stringify(before);
}
