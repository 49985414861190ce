import { chromium } from "playwright-core";
import { openStore } from "../../eval/store/open_store.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { evaluateRequest, storedTurn } from "../fakes/stored_runs.ts";
import { findChromium } from "../pages/chromium.ts";
import { report } from "./measure.ts";

const SCENARIOS = 1_000;
const ATTEMPTS = 10;
const TEXT = "A sentence of a reply that is about as long as those of a support bot. ".repeat(8);

/** A run of 10,000 turns in the dashboard: first rows, scrolling, memory. */
export async function dashboardFigures(): Promise<void> {
  const path = findChromium();
  if (path === undefined) return;
  const folder = await Deno.makeTempDir();
  const id = await fillStore(`${folder}/eval.db`);
  await using service = await startServiceProcess("eval", {
    cwd: folder,
    environment: { EVAL_DATA: "eval.db" },
  });
  await fetch(`${service.url}/runs/${id}/summary`); // computed once, then stored
  const browser = await chromium.launch({
    executablePath: path,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${service.url}/ui/no/such/view`); // the code is in the browser's cache, as usual
  const started = performance.now();
  await page.goto(`${service.url}/ui/runs/${id}`);
  await page.locator(".turn-rows .name").first().waitFor();
  report("eval: first rows of 10,000 turns", performance.now() - started, {
    unit: "ms",
    bound: 1_000,
    digits: 0,
  });
  const paint = await page.evaluate(() =>
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN
  );
  report("eval: first contentful paint", paint, { unit: "ms", digits: 0 });
  await page.locator(".turns").scrollIntoViewIfNeeded();
  const frames = await page.evaluate(async () => {
    const list = document.querySelector(".turns")!;
    const times: number[] = [];
    for (let last = performance.now(), step = 0; step < 240; step++) {
      list.scrollTop += 400;
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.sort((a, b) => a - b);
  });
  report("eval: median frame while scrolling", frames[frames.length >> 1]!, {
    unit: "ms",
    bound: 33,
    digits: 1,
  });
  report("eval: 95th percentile", frames[Math.floor(frames.length * 0.95)]!, {
    unit: "ms",
    digits: 1,
  });
  await page.evaluate(() => {
    const list = document.querySelector(".turns")!;
    list.scrollTop = list.scrollHeight;
  });
  await page.waitForFunction(() =>
    !document.querySelector(".turn-rows")?.textContent?.includes("Loading")
  );
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  report("eval: JavaScript heap with all rows loaded", usedSize / 2 ** 20, {
    unit: "MB",
    bound: 150,
    digits: 0,
  });
  await browser.close();
  await Deno.remove(folder, { recursive: true }).catch(() => {}); // the service still has it open
}

export async function fillStore(path: string): Promise<string> {
  const store = await openStore({ path });
  const request = evaluateRequest({ scenarios: SCENARIOS, attempts: ATTEMPTS, test_name: "large" });
  const { id } = await store.createRun({ request, testName: "large" });
  const positions = Array.from({ length: SCENARIOS * ATTEMPTS }, (_, n) => n);
  await Promise.all(positions.map((n) => {
    const overall = (n * 7919 % 1000) / 1000;
    return store.recordTurn(
      id,
      storedTurn([Math.floor(n / ATTEMPTS), n % ATTEMPTS, 0], {
        user_message: TEXT.slice(0, 120),
        agent_reply: TEXT,
        reference_reply: TEXT,
        scores: { overall, bleu: overall / 2, token_f1: 1 - overall, chrf: overall },
      }),
    );
  }));
  await store.setStatus(id, { status: "completed", tally: await store.tally(id) });
  await store.close();
  return id;
}
