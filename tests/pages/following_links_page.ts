import { assertEquals } from "@std/assert";
import { becomes, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture, untilCompleted } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const run = await fixture.evaluate({ attempts: 1 });
  await fixture.putDataset("shop");
  return { ...fixture, run };
});

suite.test("who follows a link by keyboard goes on in the view it leads to", async (
  { url },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.getByRole("link", { name: "support", exact: true }).press("Enter");
  await untilCompleted(page);
  await untilFocused(page.getByRole("main"));
  await page.keyboard.press("Tab");
  await untilFocused(page.getByRole("main").getByRole("link", { name: "Runs", exact: true }));
});

suite.test("the browser's tab names the run or the dataset that it shows", async (
  { url, run },
  open,
) => {
  await using tab = await open(`${url}/ui/runs/${run}`);
  const { page } = tab;
  await becomes(() => page.title(), "support · studio/support-v3 · Run · assay-eval");
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await becomes(() => page.title(), "Compare · assay-eval");
  await page.goto(`${url}/ui/dataset/shop`);
  await becomes(() => page.title(), "shop · Dataset · assay-eval");
});

suite.test("links between the parts of the dashboard stay in the application, also offline", async (
  { url },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.waitForLoadState("networkidle"); // the other parts are loaded when nothing else is
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  await page.context().setOffline(true);
  tab.expect(/ERR_INTERNET_DISCONNECTED/);
  await page.getByRole("link", { name: "New run", exact: true }).first().click();
  await page.getByRole("heading", { name: "New run" }).waitFor();
  await page.getByRole("link", { name: "API reference" }).click();
  await page.getByText("cannot reach the service", { exact: false }).waitFor();
  assertEquals(await page.evaluate(() => "isSamePage" in globalThis), true);
});
