import { assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { becomes, pageSuite } from "./browser.ts";
import { ask, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

const edges = (place: Locator) =>
  place.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect();
    return [Math.round(left), Math.round(right)];
  });

suite.test("the message box is as wide as the answers above it", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await ask(page, "calculate 17 * 23");
  await ask(page, Array.from({ length: 80 }, (_, line) => `line ${line}`).join("\n\n"));
  const check = async () => {
    for (const width of [1440, 820, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const box = page.locator(".composer-box");
      await becomes(
        async () => JSON.stringify(await edges(box)),
        JSON.stringify(await edges(page.locator(".answers").first())),
      );
    }
  };
  await check();
  await page.setViewportSize({ width: 1440, height: 800 });
  await page.getByRole("button", { name: /^Answer with a second model/ }).click();
  await ask(page, "Which is better?");
  await check();
});

/** What can be touched and is smaller than a finger. Links in a text are as high as its lines. */
function smallTargets(page: Page): Promise<string[]> {
  const kinds = "button, summary, input:not([type=file]), textarea, [role=option], .list a";
  return page.locator(kinds).evaluateAll((targets) =>
    targets.filter((target) => target.checkVisibility()).flatMap((target) => {
      const { width, height } =
        (target.closest(".composer-box > textarea")?.parentElement ?? target)
          .getBoundingClientRect();
      if (Math.min(width, height) >= 44) return [];
      const name = target.getAttribute("aria-label") ?? target.textContent;
      return [`${name}: ${width} × ${height}`];
    })
  );
}

for (const width of [390, 360]) {
  suite.test(
    `at ${width} px all targets of the chat are 44 px large, and "Save as test" has its name`,
    async ({ url }, open) => {
      await using tab = await open(url, { viewport: { width, height: 800 }, hasTouch: true });
      const { page } = tab;
      assertEquals(await smallTargets(page), []);
      await ask(page, "calculate 17 * 23");
      await ask(page, "think about it");
      assertEquals(await smallTargets(page), []);
      const scrolls = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assertEquals(await scrolls(), false);
      await page.getByText("Save as test", { exact: true }).waitFor();
      for (
        const [opener, shown] of [
          [/^Model: /, "listbox"],
          ["More", "menu"],
          ["Conversations", "navigation"],
        ] as const
      ) {
        await page.getByRole("button", { name: opener, exact: true }).tap();
        await page.getByRole(shown).first().waitFor();
        assertEquals(await smallTargets(page), [], shown);
        await page.keyboard.press("Escape");
      }
      await page.getByRole("button", { name: /^Answer with a second model/ }).tap();
      assertEquals(await smallTargets(page), []);
      assertEquals(await scrolls(), false);
    },
  );
}
