import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { becomes, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  return { ...fixture, run: await fixture.evaluate() };
});

const reply = (page: Page) => page.getByRole("heading", { name: "Reply and reference" });

/** How far the page is scrolled. */
const scrolled = (page: Page) => page.evaluate(() => Math.round(scrollY));

suite.test("going back from a turn shows the run as it was left", async ({ url, run }, open) => {
  await using tab = await open(`${url}/ui/runs/${run}`);
  const { page } = tab;
  await page.locator(".turn-rows .name").first().waitFor();
  await page.evaluate(() => scrollTo(0, 1_500));
  const row = page.locator(".turn-row", { has: page.locator(".name") }).nth(10).getByRole("link");
  await row.scrollIntoViewIfNeeded();
  const before = await scrolled(page);
  assert(before > 100, String(before));
  for (const goBack of [() => page.goBack(), () => page.keyboard.press("u")]) {
    await row.click();
    await reply(page).waitFor();
    await becomes(() => scrolled(page), 0);
    await goBack();
    await becomes(() => scrolled(page), before);
  }
});

suite.test("a turn that a key has opened leads back to its run", async ({ url, run }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.locator(`a[href="/ui/runs/${run}"]`).click();
  await page.locator(".turn-rows .name").first().waitFor();
  await page.keyboard.press("j");
  await reply(page).waitFor();
  const first = page.url();
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.href !== first);
  await page.goBack();
  await page.waitForURL(`${url}/ui/runs/${run}`);
  await page.locator(".turn-rows .name").first().waitFor();
  await page.goBack();
  await page.waitForURL(`${url}/`);
});

suite.test("a question that was not answered is gone with its run", async ({ url, run }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.locator(`a[href="/ui/runs/${run}"]`).click();
  for (const item of ["Rename and tag", "Delete"]) {
    await page.getByRole("button", { name: /^Actions/ }).click();
    await page.getByRole("menuitem", { name: item }).click();
    await page.getByRole("dialog").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.goForward();
    await page.locator(".turn-rows .name").first().waitFor();
    assertEquals(await page.getByRole("dialog").count(), 0, item);
  }
});
