/** A choice of the person, kept in this browser; `undefined` if there is none or it is broken. */
export function readChoice<T>(name: string): T | undefined {
  try {
    return JSON.parse(localStorage.getItem(`assay-${name}`) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice. A browser that refuses to store anything forgets it, and that is all. */
export function keepChoice(name: string, value: unknown): void {
  try {
    localStorage.setItem(`assay-${name}`, JSON.stringify(value));
  } catch {
    // full, or switched off
  }
}
