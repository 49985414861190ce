import { computed, signal } from "@preact/signals";

/** The address of the page; set by `navigate` and by the browser's back and forward buttons. */
const address = signal(new URL("http://localhost/"));

/** The path of the page, such as `/ui/runs/r-1`. */
export const path = computed(() => address.value.pathname);

/** The parameters of the address, in which a view keeps what a colleague should see too. */
export const query = computed(() => address.value.searchParams);

/** Reads the address bar, now and whenever the person goes back or forward. */
export function followAddressBar(): void {
  const read = () => void (address.value = new URL(globalThis.location.href));
  globalThis.addEventListener("popstate", read);
  read();
}

/** Whether this script has a view for a path; others are loaded. */
let hasView: (pathname: string) => boolean = () => true;

/** Called once, before the first view is shown. */
export function setViews(has: (pathname: string) => boolean): void {
  hasView = has;
}

/** Goes to another view of this page. `replace`: the back button does not return to this one. */
export function navigate(href: string, { replace = false }: { replace?: boolean } = {}): void {
  const next = new URL(href, address.value);
  if (next.href === address.value.href) return;
  if (!hasView(next.pathname)) return globalThis.location.assign(next);
  remember(next, replace);
  address.value = next;
}

/** A file has no addresses of its own in some browsers; its views work all the same. */
function remember(next: URL, replace: boolean): void {
  try {
    if (replace) history.replaceState(null, "", next);
    else history.pushState(null, "", next);
  } catch (error) {
    if (next.protocol !== "file:") throw error;
  }
}

/** Sets parameters of the address; an empty one is removed. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const next = new URL(address.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.searchParams.set(name, value);
    else next.searchParams.delete(name);
  }
  navigate(next.href, { replace: true });
}

/**
 * The parameters of a path by its pattern (`/ui/runs/:id`), decoded; `undefined` if it is another
 * path. A name that cannot be decoded is no match.
 */
export function matchPath(pattern: string, pathname: string): Record<string, string> | undefined {
  const parts = pattern.split("/");
  const given = pathname.split("/");
  if (parts.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    if (!part.startsWith(":")) {
      if (part !== given[index]) return undefined;
      continue;
    }
    const value = decode(given[index]!);
    if (!value) return undefined;
    params[part.slice(1)] = value;
  }
  return params;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
