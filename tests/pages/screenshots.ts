// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * `deno task screenshots`: the pictures of the documents. With a folder (and a set, and a pattern of
 * names): pictures of every view to look at, 1440 pixels wide in both themes and 390.
 */
import { type Browser, chromium, type Page } from "playwright-core";
import { chatShots } from "./chat_shots.ts";
import { dashboardShots } from "./dashboard_shots.ts";
import { findChromium } from "./chromium.ts";
import { docsShots } from "./docs_shots.ts";

/** One view: how the page gets into its state. */
export interface Shot {
  name: string;
  /** Only this wide; else as wide as the pictures are. */
  width?: number;
  height?: number;
  isDocumented?: boolean;
  take: (page: Page) => Promise<void>;
}

const IMAGES = new URL("../../docs/images", import.meta.url).pathname;
const SETS = { chat: chatShots, docs: docsShots, dashboard: dashboardShots };

type Picture = [width: number, colorScheme: "light" | "dark"];
const DOCUMENTED: Picture[] = [[1280, "light"], [1280, "dark"]];
const LOOKED_AT: Picture[] = [[1440, "light"], [1440, "dark"], [390, "light"]];

const TALL = 1500;

async function takeShot(browser: Browser, shot: Shot, folder: string | undefined): Promise<void> {
  for (const [usual, colorScheme] of folder ? LOOKED_AT : DOCUMENTED) {
    const { name, width = usual, take } = shot;
    const height = folder ? TALL : shot.height ?? 800;
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
    const path = folder
      ? `${folder}/${name}-${width}-${colorScheme}.png`
      : `${IMAGES}/${name}-${colorScheme}.png`;
    await page.screenshot({ path });
    await context.close();
    console.log(path);
  }
}

if (import.meta.main) {
  const [folder, only, pattern = ""] = Deno.args;
  Deno.mkdirSync(folder || IMAGES, { recursive: true });
  const browser = await chromium.launch({
    executablePath: findChromium()!,
    args: ["--no-sandbox"],
  });
  for (const [name, begin] of Object.entries(SETS)) {
    if (only && name !== only) continue;
    await using set = await begin();
    for (const shot of set.shots) {
      if (!(folder || shot.isDocumented) || !new RegExp(pattern).test(shot.name)) continue;
      await takeShot(browser, shot, folder).catch((error) => { // the others are of use without it
        console.error(`${shot.name}: ${error}`);
        Deno.exitCode = 1;
      });
    }
  }
  await browser.close();
}
