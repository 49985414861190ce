import type { CDPSession, Page } from "playwright-core";
import { BUDGET_BYTES, buildPage, gzippedBytes, PAGES } from "../../.ci/build_pages.ts";
import { ask, importFile, messageBox, say, startScriptedAgent } from "../pages/chat.ts";
import { dashboardFigures } from "./dashboard.ts";
import { type BenchPart, ratios, report } from "./measure.ts";
import { firstPaint, launchBrowser, measureHeap, threadMs } from "./viewer.ts";

/** What the pages cost: bytes to load, time until they show something, work while text arrives. */
export const pages: BenchPart = async () => {
  for (const name of PAGES) {
    const bytes = gzippedBytes(await buildPage(name));
    report(`${name}: script and style, gzipped`, bytes / 1000, {
      unit: "kB",
      bound: BUDGET_BYTES / 1000,
      digits: 1,
    });
  }
  await chatFigures();
  await dashboardFigures();
};

const OPENINGS = 7;
const TURNS = 200;
/** Words of the answer that is streamed: some 10 seconds of a fast model. */
const WORDS = 2_000;

async function chatFigures(): Promise<void> {
  await using agent = await startScriptedAgent();
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable");

  const paints: number[] = [];
  const plainPaints: number[] = [];
  for (let opening = 0; opening < OPENINGS; opening++) {
    await page.goto(`${agent.url}/healthz`);
    plainPaints.push(await firstPaint(page));
    await page.goto(agent.url);
    await messageBox(page).waitFor();
    paints.push(await firstPaint(page));
  }
  report("agent: first contentful paint", paints, { unit: "ms", digits: 0 });
  report("agent: the same, by that of a line of text", ratios(paints, plainPaints), {
    unit: "×",
    digits: 1,
  });

  agent.hub.answers.set("words", Array.from({ length: WORDS }, (_, at) => `word${at}`).join(" "));
  const streamingMs = await workMs(session, () => ask(page, "words"));
  report(`agent: work of the page while ${WORDS} words arrive`, streamingMs, {
    unit: "ms",
    digits: 0,
  });

  await importTurns(page, TURNS);
  const showingMs = await workMs(session, async () => {
    await page.getByRole("navigation").getByRole("link", { name: /question 0/ }).click();
    await page.locator(".turn").nth(TURNS - 1).waitFor();
  });
  report(`agent: work to show a conversation of ${TURNS} turns`, showingMs, {
    unit: "ms",
    digits: 0,
  });
  const typingMs = await workMs(session, () => messageBox(page).pressSequentially("a".repeat(50)));
  report("agent: work for a key typed below it", typingMs / 50, { unit: "ms", digits: 1 });
  await say(page, "one more");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  report("agent: memory of the page with it", await measureHeap(page), {
    unit: "MB",
    bound: 150,
    digits: 1,
  });
  await browser.close();
}

/** The work of the page's main thread meanwhile. */
async function workMs(session: CDPSession, work: () => Promise<unknown>): Promise<number> {
  const before = await threadMs(session);
  await work();
  return await threadMs(session) - before;
}

/** A conversation with markdown in each answer, as an imported file. */
async function importTurns(page: Page, count: number): Promise<void> {
  const turns = Array.from({ length: count }, (_, at) => ({
    id: `t${at}`,
    parent: at === 0 ? null : `t${at - 1}`,
    text: `question ${at}`,
    answers: [{
      model: "acme/model-01",
      status: "done",
      parts: [{
        type: "text",
        text: `An answer with **bold** text, \`code\` and a list:\n\n${"- an item\n".repeat(8)}`,
      }],
    }],
    sentAt: at,
    changedAt: at,
  }));
  const shown = turns.map(({ id, parent }) => [parent ?? "", id]);
  const conversation = {
    turns: Object.fromEntries(turns.map((turn) => [turn.id, turn])),
    shown: Object.fromEntries(shown),
    models: ["acme/model-01"],
  };
  const file = { format: "assay-conversations", version: 1, conversations: [conversation] };
  await importFile(page, JSON.stringify(file));
}
