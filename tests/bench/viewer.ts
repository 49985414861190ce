import { gzipSync } from "node:zlib";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { findChromium } from "../pages/chromium.ts";

/** A page that shows the turns of a run. */
export interface Viewer {
  url: string;
  /** Selector of an element that appears with the first rows. */
  rows: string;
}

/** What it costs to open a viewer. Times are those of each opening, in milliseconds. */
export interface OpeningFigures {
  /** Scripts and styles that were loaded until the rows were there. */
  gzippedKilobytes: number;
  firstPaintMs: number[];
  firstRowsMs: number[];
  /** Processor time of the page's main thread until then. */
  workMs: number[];
  /** The heap of its scripts with the first rows, after a collection. */
  heapMegabytes: number;
}

/** What a page does while turns arrive. */
export interface LiveFigures {
  scriptingMs: number;
  /** Everything that the main thread does: scripts, styles, layout, painting. */
  workMs: number;
  heapMegabytes: number;
}

const OPENINGS = 5;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium()!,
    args: ["--no-sandbox", "--disable-gpu"],
  });
}

/** Opens a viewer several times, each time in a fresh browser. */
export async function measureOpening(
  browser: Browser,
  { url, rows }: Viewer,
): Promise<OpeningFigures> {
  const firstPaintMs: number[] = [];
  const firstRowsMs: number[] = [];
  const workMs: number[] = [];
  let gzippedKilobytes = 0;
  let heapMegabytes = 0;
  for (let opening = 0; opening < OPENINGS; opening++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable");
    const code = opening === 0 ? collectCode(page) : undefined;
    const started = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.locator(rows).first().waitFor({ timeout: 120_000 });
    if (!code) firstRowsMs.push(performance.now() - started); // collecting takes time
    workMs.push(await threadMs(session));
    firstPaintMs.push(await firstPaint(page));
    if (code) gzippedKilobytes = await code();
    heapMegabytes = await measureHeap(page);
    await context.close();
  }
  return { gzippedKilobytes, firstPaintMs, firstRowsMs, workMs, heapMegabytes };
}

/** Measures the work of a page for a while. */
export async function measureLive(page: Page, forMs: number): Promise<LiveFigures> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const before = await readMetrics(session);
  await page.waitForTimeout(forMs);
  const after = await readMetrics(session);
  const spent = (name: string) => 1000 * (after[name]! - before[name]!);
  return {
    scriptingMs: spent("ScriptDuration"),
    workMs: spent("TaskDuration"),
    heapMegabytes: await measureHeap(page),
  };
}

/** The heap of a page's scripts, after a collection. */
export async function measureHeap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
}

export async function firstPaint(page: Page): Promise<number> {
  const painted = await page.waitForFunction(() =>
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime
  );
  return await painted.jsonValue() ?? NaN;
}

/** Processor time of a page's main thread so far, which depends little on other load. */
export async function threadMs(session: CDPSession): Promise<number> {
  return 1000 * (await readMetrics(session)).ThreadTime!;
}

async function readMetrics(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/** Collects scripts and styles from now on; the result is their size in kB, gzipped. */
function collectCode(page: Page): () => Promise<number> {
  const bodies: Promise<number>[] = [];
  page.on("response", (response) => {
    if (!/script|stylesheet/.test(response.request().resourceType())) return;
    bodies.push(response.body().then((body) => gzipSync(body).byteLength, () => 0));
  });
  return async () => (await Promise.all(bodies)).reduce((sum, bytes) => sum + bytes, 0) / 1000;
}
