import type { Browser } from "playwright-core";
import { openStore } from "../../eval/store/open_store.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { evaluateRequest, storedTurn } from "../fakes/stored_runs.ts";
import { report, startEndpoint } from "./measure.ts";
import {
  launchBrowser,
  type LiveFigures,
  measureHeap,
  measureLive,
  measureOpening,
  type OpeningFigures,
  threadMs,
} from "./viewer.ts";

const SCENARIOS = 1_000;
const ATTEMPTS = 10;
const TEXT = "A sentence of a reply that is about as long as those of a support bot. ".repeat(8);

/** 20 turns per second: 4 conversations at once, with an endpoint that takes 200 ms. */
const LIVE = { concurrency: 4, delayMs: 200, forMs: 30_000, turns: 800 };

/** A run of 10,000 turns in the dashboard, and one in progress. */
export async function dashboardFigures(): Promise<void> {
  const browser = await launchBrowser();
  try {
    const figures = await measureViewer(browser);
    for (const { what, of, unit = "", bound } of LINES) {
      const digits = unit === "MB" ? 1 : 0;
      report(`eval: ${what}`, of(figures), { unit, digits, bound: bound ?? Infinity });
    }
  } finally {
    await browser.close();
  }
}

interface ViewerFigures {
  opening: OpeningFigures;
  live: LiveFigures & { shownTurns: number };
}

async function measureViewer(browser: Browser): Promise<ViewerFigures> {
  const folder = await Deno.makeTempDir();
  const id = await fillStore(`${folder}/eval.db`);
  await using service = await startServiceProcess("eval", {
    cwd: folder,
    environment: { EVAL_DATA: "eval.db", EVAL_CONCURRENCY: String(LIVE.concurrency) },
  });
  await fetch(`${service.url}/runs/${id}/summary`); // computed once, then stored
  const opening = await measureOpening(browser, {
    url: `${service.url}/ui/runs/${id}`,
    rows: ".turn-rows .name",
  });
  await scrollFigures(browser, `${service.url}/ui/runs/${id}`);

  await using endpoint = await startEndpoint();
  const answer = await fetch(`${service.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({
      test_batch: liveMessages().map((message, index) => ({
        id: `live ${index}`,
        interactions: [{ id: "1", user_message: message, reference_reply: "On Thursday." }],
      })),
      endpoint: endpoint.url(LIVE.delayMs),
      model_id: "m",
    }),
  });
  const { run_id } = await answer.json();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${service.url}/ui/runs/${run_id}`);
  await page.locator(".turn-rows .name").first().waitFor();
  const live = await measureLive(page, LIVE.forMs);
  const shownTurns = Number(await page.locator("progress").getAttribute("value"));
  await page.close();
  await Deno.remove(folder, { recursive: true }).catch(() => {}); // the service still has it open
  return { opening, live: { ...live, shownTurns } };
}

async function scrollFigures(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  await page.locator(".turn-rows .name").first().waitFor();
  await page.locator(".turns").scrollIntoViewIfNeeded();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const before = await threadMs(session);
  const frames = await page.evaluate(async () => {
    const times: number[] = [];
    for (let last = performance.now(), step = 0; step < 240; step++) {
      scrollBy(0, 400);
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
  report("eval: work for a frame", (await threadMs(session) - before) / frames.length, {
    unit: "ms",
    bound: 33,
    digits: 1,
  });
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.waitForFunction(() =>
    !document.querySelector(".turn-rows")?.textContent?.includes("Loading")
  );
  report("eval: heap of the scripts after the last rows", await measureHeap(page), {
    unit: "MB",
    bound: 150,
    digits: 1,
  });
  await page.close();
}

interface Line {
  what: string;
  of: (figures: ViewerFigures) => number | number[];
  unit?: string;
  bound?: number;
}

const LINES: Line[] = [
  {
    what: "scripts and styles until the first rows, gzipped",
    of: ({ opening }) => opening.gzippedKilobytes,
    unit: "kB",
  },
  {
    what: "first contentful paint of a run of 10,000 turns",
    of: ({ opening }) => opening.firstPaintMs,
    unit: "ms",
  },
  { what: "first rows of it", of: ({ opening }) => opening.firstRowsMs, unit: "ms", bound: 1_000 },
  { what: "work of the page until then", of: ({ opening }) => opening.workMs, unit: "ms" },
  {
    what: "heap of the scripts with them",
    of: ({ opening }) => opening.heapMegabytes,
    unit: "MB",
    bound: 150,
  },
  {
    what: "scripting in 30 s while 20 turns/s arrive",
    of: ({ live }) => live.scriptingMs,
    unit: "ms",
  },
  { what: "all work of the page in that time", of: ({ live }) => live.workMs, unit: "ms" },
  { what: "heap of the scripts after it", of: ({ live }) => live.heapMegabytes, unit: "MB" },
  { what: "turns that the page showed by then", of: ({ live }) => live.shownTurns },
];

function liveMessages(): string[] {
  return Array.from({ length: LIVE.turns }, (_, at) => `When does order ${at} arrive?`);
}

const positions = () => Array.from({ length: SCENARIOS * ATTEMPTS }, (_, n) => n);

function scoresOf(n: number): Record<string, number> {
  const overall = (n * 7919 % 1000) / 1000;
  return { overall, bleu: overall / 2, token_f1: 1 - overall, chrf: overall };
}

async function fillStore(path: string): Promise<string> {
  const store = await openStore({ path });
  const request = evaluateRequest({ scenarios: SCENARIOS, attempts: ATTEMPTS, test_name: "large" });
  const { id } = await store.createRun({ request, testName: "large" });
  await Promise.all(
    positions().map((n) =>
      store.recordTurn(
        id,
        storedTurn([Math.floor(n / ATTEMPTS), n % ATTEMPTS, 0], {
          user_message: TEXT.slice(0, 120),
          agent_reply: TEXT,
          reference_reply: TEXT,
          scores: scoresOf(n),
        }),
      )
    ),
  );
  await store.setStatus(id, { status: "completed", tally: await store.tally(id) });
  await store.close();
  return id;
}
