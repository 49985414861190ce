// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * `deno task screenshots [folder [set [pattern of names]]]`: pictures of the pages. Those of the documents
 * go to `docs/images/`, the others, which are for looking at only, to the folder, if there is one.
 */
import { type Browser, chromium, type Page } from "playwright-core";
import { chatShots } from "./chat_shots.ts";
import { dashboardShots } from "./dashboard_shots.ts";
import { findChromium } from "./chromium.ts";
import { docsShots } from "./docs_shots.ts";

/** One picture: how the page gets into the state, and how large the window is. */
export interface Shot {
  name: string;
  width?: number;
  height?: number;
  /** The whole page, however long it is. */
  isFull?: boolean;
  /** For the documents; in both themes. */
  isDocumented?: boolean;
  take: (page: Page) => Promise<void>;
}

const IMAGES = new URL("../../docs/images", import.meta.url).pathname;
const SETS = { chat: chatShots, docs: docsShots, dashboard: dashboardShots };
const THEMES = ["light", "dark"] as const;

async function takeShot(browser: Browser, shot: Shot, folder: string): Promise<void> {
  const { name, width = 1280, height = 800, take } = shot;
  for (const colorScheme of THEMES) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      deviceScaleFactor: 1,
      reducedMotion: "reduce",
      locale: "en-US",
      timezoneId: "UTC",
    });
    const page = await context.newPage();
    await take(page);
    const path = `${folder}/${name}-${colorScheme}.png`;
    await page.screenshot({ path, fullPage: shot.isFull ?? false });
    await context.close();
    console.log(path);
  }
}

if (import.meta.main) {
  const [other, only, pattern = ""] = Deno.args;
  Deno.mkdirSync(IMAGES, { recursive: true });
  if (other) Deno.mkdirSync(other, { recursive: true });
  const browser = await chromium.launch({
    executablePath: findChromium()!,
    args: ["--no-sandbox"],
  });
  for (const [name, begin] of Object.entries(SETS)) {
    if (only && name !== only) continue;
    await using set = await begin();
    for (const shot of set.shots) {
      const folder = shot.isDocumented ? IMAGES : other;
      if (folder && new RegExp(pattern).test(shot.name)) await takeShot(browser, shot, folder);
    }
  }
  await browser.close();
}
