// deno-lint-ignore-file no-console -- what the page's console says is what is watched
import { assertEquals } from "@std/assert";
import { isDeepStrictEqual } from "node:util";
import axe from "npm:axe-core@4.14.0";
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Route,
} from "playwright-core";
import { findChromium } from "./chromium.ts";

/** A page under test. Closing it fails the test if anything went wrong that nobody expected. */
export interface OpenPage extends AsyncDisposable {
  page: Page;
  /** Console errors, uncaught errors, violations of the content policy, executed payloads. */
  readonly complaints: readonly string[];
  /** Takes the complaints that a test expects: a request that fails is logged by the browser. */
  expect(pattern: RegExp): void;
}

/** A suite of browser tests: one browser and one set of services, started at the first test. */
export interface PageSuite<Services> {
  test(name: string, run: (services: Services, open: OpenInBrowser) => Promise<void>): void;
}

export type OpenInBrowser = (
  url: string,
  options?: BrowserContextOptions,
) => Promise<OpenPage>;

/** Much more than anything takes, also while the machine is busy with other work. */
const PATIENCE_MS = 45_000;

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--host-resolver-rules=MAP assay.test 127.0.0.1", // a name that is not this machine's own
];

/** Tests are skipped if there is no browser. `start`ed things are disposed of after the last test. */
export function pageSuite<Services extends AsyncDisposable>(
  start: () => Promise<Services>,
): PageSuite<Services> {
  const path = findChromium();
  if (!path) console.warn("skipped: tests of the pages (no Chromium; CHROMIUM names one)");
  let started: Promise<[Browser, Services]> | undefined;
  const begin = () =>
    started ??= Promise.all([
      chromium.launch({ executablePath: path!, args: ARGUMENTS }),
      start(),
    ]);
  Deno.test.afterAll(async () => {
    if (!started) return;
    const [browser, services] = await started;
    await browser.close();
    await services[Symbol.asyncDispose]();
  });
  return {
    test(name, run) {
      Deno.test({
        name,
        ignore: path === undefined,
        sanitizeOps: false, // the browser and the services outlive a test
        sanitizeResources: false,
        async fn() {
          const [browser, services] = await begin();
          const texts: string[] = [];
          try {
            await run(services, (url, options) => openPage(browser, { url, texts, ...options }));
          } catch (error) {
            console.error(texts.map((text) => `\nthe page showed:\n${text}`).join("\n"));
            throw error;
          }
        },
      });
    },
  };
}

async function openPage(
  browser: Browser,
  { url, texts, ...options }: { url: string; texts: string[] } & BrowserContextOptions,
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: "en-US",
    timezoneId: "UTC",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`);
    });
    // What a payload calls: see `payloads.ts`.
    Object.assign(globalThis, { pwned: () => console.error("a payload was executed") });
  });
  const complaints: string[] = [];
  const expected: RegExp[] = [];
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", async (dialog) => {
    complaints.push(`a dialog was opened: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.goto(url);
  return {
    page,
    complaints,
    expect: (pattern) => void expected.push(pattern),
    async [Symbol.asyncDispose]() {
      texts.push(await page.innerText("body"), ...complaints);
      await context.close();
      const unexpected = complaints.filter((text) => !expected.some((known) => known.test(text)));
      assertEquals(unexpected, [], "the browser complained");
    },
  };
}

/** What the service answers to a request of the page: `route.fetch` does not run on Deno 2.7.7. */
export async function answerOf(route: Route) {
  const request = route.request();
  const { host: _, connection: __, "content-length": ___, ...headers } = await request.allHeaders();
  const init = { method: request.method(), headers, body: request.postData() };
  const response = await fetch(request.url(), init);
  const contentType = response.headers.get("content-type") ?? "";
  return { status: response.status, contentType, body: await response.text() };
}

/**
 * Reads until the page shows what is expected: it is drawn a moment after its cause. Not for what
 * must be so from the start, or stay so.
 */
export async function becomes<T>(read: () => Promise<T>, expected: T): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  let last = await read();
  while (!isDeepStrictEqual(last, expected) && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    last = await read();
  }
  assertEquals(last, expected);
}

/** Waits until an element has the focus. */
export async function untilFocused(locator: Locator): Promise<void> {
  await locator.and(locator.page().locator(":focus")).waitFor();
}

/** The words in some elements that go on in the next line. */
export function findBrokenWords(elements: Locator): Promise<string[]> {
  return elements.evaluateAll((elements) => {
    const found: string[] = [];
    for (const element of elements) {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const node = texts.currentNode as Text;
        for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          if (range.getClientRects().length > 1) found.push(word);
        }
      }
    }
    return found;
  });
}

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Checks a view with axe in both themes, at 1280 and at 360 pixels, and that it does not scroll
 * sideways. Leaves the page wide and light. `isQuick`: each width in one theme only, for states that
 * many views show with the same components.
 */
export async function checkAccessibility(
  page: Page,
  { isQuick = false }: { isQuick?: boolean } = {},
): Promise<void> {
  await page.evaluate(axe.source);
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const themes = ["dark", "light"] as const;
    for (const colorScheme of isQuick ? [themes[width === 360 ? 0 : 1]] : themes) {
      await page.emulateMedia({ colorScheme });
      const found = await page.evaluate(async (tags) => {
        const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(
          document,
          { runOnly: tags, resultTypes: ["violations"] },
        );
        return violations.map(({ id, nodes }) =>
          `${id}: ${
            nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")
          }`
        );
      }, TAGS);
      assertEquals(found, [], `${page.url()} at ${width} px, ${colorScheme}`);
    }
    const overflow = await page.evaluate(() =>
      document.documentElement.scrollWidth - document.documentElement.clientWidth
    );
    assertEquals(overflow, 0, `${page.url()} scrolls sideways at ${width} px`);
  }
}
