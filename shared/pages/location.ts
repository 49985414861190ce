import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The address of the page; set by `navigate` and by the browser's back and forward buttons. */
const address = signal(new URL("http://localhost/"));

/** The path of the page, such as `/ui/runs/r-1`. */
export const path = computed(() => address.value.pathname);

/** The parameters of the address, in which a view keeps what a colleague should see too. */
export const query = computed(() => address.value.searchParams);

/** What the view is about, such as the name of a run: the browser's tab shows it first. */
export const subject = signal<string | undefined>(undefined);

/** Says what the view is about, as long as it is shown. */
export function useSubject(name: string | undefined): void {
  useEffect(() => {
    subject.value = name;
    return () => void (subject.value = undefined);
  }, [name]);
}

/** What the browser keeps with an address of its history. */
interface Entry {
  /** The address that the person came from. */
  before?: string;
  /** How far the page was scrolled when the person went on. */
  leftAt?: number | undefined;
}

let returnedTo: number | undefined;

function readEntry(): Entry {
  return history.state ?? {};
}

let isHash = false;

/**
 * Reads the address bar, now and whenever the person goes back or forward. `inHash`: of a file, whose
 * views have their addresses behind `#`.
 */
export function followAddressBar({ inHash = false }: { inHash?: boolean } = {}): void {
  isHash = inHash;
  function read(): void {
    const { leftAt, ...entry } = readEntry();
    returnedTo = leftAt;
    if (leftAt) history.replaceState(entry, ""); // a reload begins at the top
    const { href, hash } = globalThis.location;
    address.value = isHash ? new URL(hash.slice(1) || "/", address.value) : new URL(href);
  }
  globalThis.addEventListener("popstate", read);
  read();
}

/** The address of a view as a link has it. */
export function hrefOf(href: string): string {
  if (!isHash) return href;
  const { pathname, search } = new URL(href, address.value);
  return `#${pathname}${search}`;
}

/** Goes to another view of this page. `replace`: the back button does not return to this one. */
export function navigate(href: string, { replace = false }: { replace?: boolean } = {}): void {
  const next = new URL(href, address.value);
  if (next.href === address.value.href) return;
  const entry = readEntry();
  if (replace) history.replaceState({ ...entry, leftAt: undefined }, "", hrefOf(next.href));
  else {
    history.replaceState({ ...entry, leftAt: globalThis.scrollY }, "");
    history.pushState({ before: withoutHash(address.value) }, "", hrefOf(next.href));
  }
  returnedTo = undefined;
  address.value = next;
}

/** Sets parameters of the address; an empty one is removed. */
export function setQuery(changes: Record<string, string | undefined>): void {
  navigate(withChanges(changes).href, { replace: true });
}

/** Goes to an address; back to it if the person came from there: then they see it as they left it. */
export function returnTo(href: string): void {
  const next = new URL(href, address.value);
  if (readEntry().before === withoutHash(next)) history.back();
  else navigate(next.href, { replace: true });
}

/** The address of the page with other parameters. */
export function withChanges(changes: Record<string, string | undefined>): URL {
  const next = new URL(address.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.searchParams.set(name, value);
    else next.searchParams.delete(name);
  }
  return next;
}

function withoutHash({ href, hash }: URL): string {
  return href.slice(0, href.length - hash.length);
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

/** Begins a view at its top, and again whenever `keys` change; or where the person has left it. */
export function useScrollTop(keys: unknown[]): void {
  useEffect(() => {
    globalThis.scrollTo(0, 0);
    return returnedTo ? scrollBackTo(returnedTo) : undefined;
  }, keys);
}

/** What shows that the person scrolls by themselves. */
const OWN_SCROLLING = ["wheel", "touchmove", "pointerdown", "keydown"];

/**
 * Scrolls to where the person was, as soon as the content has grown that long. Ends there, when the
 * person scrolls, or when the returned function is called.
 */
function scrollBackTo(top: number): () => void {
  const { documentElement: scroller, body: content } = document;
  const observer = new ResizeObserver(() => {
    scroller.scrollTop = top;
    if (scroller.scrollTop >= top - 1) stop();
  });
  function stop(): void {
    observer.disconnect();
    for (const name of OWN_SCROLLING) globalThis.removeEventListener(name, stop);
  }
  for (const name of OWN_SCROLLING) globalThis.addEventListener(name, stop, { passive: true });
  observer.observe(content);
  return stop;
}
