import { assert, assertEquals } from "@std/assert";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const KEY = "a-key-of-the-tests";

const suite = pageSuite(() =>
  startEvalFixture({
    delayMs: 150,
    headers: { "x-api-key": KEY },
    environment: { API_KEYS: KEY, EVAL_CONCURRENCY: "2" },
  })
);

suite.test("a key is asked for once, and no run yet is an invitation", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  tab.expect(/401/);
  await page.getByLabel("API key").waitFor();
  await checkAccessibility(page);
  await page.getByLabel("API key").fill("wrong");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("did not accept").waitFor();
  await page.getByLabel("API key").fill(KEY);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "No runs yet" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "No runs yet" }).waitFor();
});

suite.test(
  "a run is followed while it is running, also after a reload, and cancelled",
  async (fixture, open) => {
    const id = await fixture.start({ attempts: 40, test_name: "a long one" });
    await using tab = await open(`${fixture.url}/ui/runs/${id}`);
    const { page } = tab;
    tab.expect(/401/);
    await page.getByLabel("API key").fill(KEY);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator(".turn-rows .name").nth(2).waitFor();
    const speed = page.getByText(/mean so far 0\.\d\d · [\d.]+ turns\/s · \d+(\.\d)? s left/);
    await speed.waitFor();
    const said = await page.locator(".live").innerText();
    const [done = 0, total = 0] = /(\d+) of (\d+) turns/.exec(said)!.slice(1).map(Number);
    const [rate = 0, left = 0] = /([\d.]+) turns\/s · ([\d.]+) s left/.exec(said)!.slice(1).map(
      Number,
    );
    const ratio = rate * left / (total - done);
    assert(ratio > 0.9 && ratio < 1.1, `the speed and the time left disagree: ${said}`);
    // One source of how many there are: nothing else counts turns.
    const counts = page.getByText(/\d+ (of \d+ )?turns(?!\/s)/);
    assertEquals(await counts.evaluateAll((all) => all.map(({ className }) => className)), [
      "muted small", // what was asked for
      "sentence",
    ]);
    await checkAccessibility(page);
    await page.reload();
    await page.locator(".turn-rows .name").nth(1).waitFor();
    const progress = page.getByRole("progressbar", { name: "Finished turns" });
    const before = Number(await progress.getAttribute("value"));
    await page.waitForFunction(
      (before) => Number(document.querySelector("progress")?.value) > before,
      before,
    );
    await page.getByRole("button", { name: "Stop the run" }).click();
    await page.getByText("The run is stopped").waitFor();
    await page.locator(".badge", { hasText: "cancelled" }).waitFor();
    await becomes(() => progress.count(), 0);
  },
);
