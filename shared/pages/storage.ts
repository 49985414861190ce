/** A choice of the person, kept in this browser; `undefined` if there is none or it is broken. */
export function readChoice<T>(name: string): T | undefined {
  return read(() => localStorage, name);
}

/** Keeps a choice; does nothing if the browser refuses to store anything. */
export function keepChoice(name: string, value: unknown): void {
  keep(() => localStorage, name, value);
}

/** The same for what only this tab should know, until it is closed. */
export function readForTab<T>(name: string): T | undefined {
  return read(() => sessionStorage, name);
}

/** Keeps it. False if the browser does not: it has a limit of some megabytes. */
export function keepForTab(name: string, value: unknown): boolean {
  return keep(() => sessionStorage, name, value);
}

/** Where storing is switched off, asking for the storage fails already. */
type Find = () => Storage;

function read<T>(find: Find, name: string): T | undefined {
  try {
    return JSON.parse(readText(find, `assay-${name}`) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

function keep(find: Find, name: string, value: unknown): boolean {
  return keepText(find, `assay-${name}`, JSON.stringify(value));
}

/** What a storage has, as it is; nothing if the browser has none. */
export function readText(find: Find, name: string): string | undefined {
  try {
    return find().getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text as it is. False if the browser does not keep it. */
export function keepText(find: Find, name: string, text: string): boolean {
  try {
    find().setItem(name, text);
    return true;
  } catch {
    return false; // full, or switched off
  }
}
