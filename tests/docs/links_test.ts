import { assertEquals } from "@std/assert";
import { anchorsOf, type Page, proseOf, readPages } from "./pages.ts";

const ROOT = new URL("../../", import.meta.url);
const pages = readPages();

function exists(url: URL): boolean {
  try {
    Deno.statSync(url);
    return true;
  } catch {
    return false;
  }
}

function linksOf(page: Page): string[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** What is wrong with a relative link, if anything. */
function fault(page: Page, link: string): string | undefined {
  const url = new URL(link, page.url);
  const anchor = url.hash.slice(1);
  url.hash = "";
  if (!exists(url)) return `${page.path}: ${link} leads nowhere`;
  if (!anchor) return undefined;
  const target = pages.find((other) => other.url.href === url.href);
  if (target && anchorsOf(target).includes(anchor)) return undefined;
  return `${page.path}: ${link} names no heading`;
}

Deno.test("every relative link leads to a file, and every anchor to a heading", () => {
  const faults = pages.flatMap((page) => linksOf(page).map((link) => fault(page, link)));
  assertEquals(faults.filter((found) => found !== undefined), []);
});

Deno.test("every page of docs/ is linked from the README", () => {
  const [readme] = pages;
  const linked = linksOf(readme!);
  const unlinked = pages.map(({ path }) => path)
    .filter((path) => path !== "README.md" && !linked.includes(path));
  assertEquals(unlinked, []);
});

Deno.test("every file and folder that a page names is there", () => {
  const pattern = /`((?:agent|eval|shared|tests|docs|\.ci|\.github)\/[\w./-]*)`/g;
  const missing = pages.flatMap((page) =>
    [...proseOf(page).matchAll(pattern)].map((match) => match[1]!)
      .filter((path) => !exists(new URL(path, ROOT)))
      .map((path) => `${page.path}: ${path}`)
  );
  assertEquals(missing, []);
});
