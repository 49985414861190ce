import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { completionBody, startProviderDouble } from "../fakes/provider_double.ts";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const old = await fixture.evaluate({ model_id: "studio/support-v2" });
  const now = await fixture.evaluate();
  const smoke = await fixture.evaluate({
    test_name: "smoke",
    attempts: 1,
    test_batch: [...SUPPORT_BATCH.slice(0, 2), { ...SUPPORT_BATCH[2]!, id: "only-here" }],
  });
  return { ...fixture, old, now, smoke };
});

suite.test(
  "the runs are listed, searched, sorted and chosen for a comparison",
  async (fixture, open) => {
    await using tab = await open(fixture.url);
    const { page } = tab;
    const names = page.locator("table.runs tbody .name");
    await page.getByRole("link", { name: "smoke" }).waitFor();
    assertEquals(await names.allTextContents(), ["smoke", "support", "support"]);
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.waitForURL(/sort=test_name/);
    await page.keyboard.press("/");
    await page.keyboard.type("V2");
    await page.waitForURL(/q=V2/);
    await page.getByText("smoke").waitFor({ state: "detached" });
    await names.first().waitFor(); // the list is empty while it is being read
    assertEquals(await names.count(), 1);
    await page.reload();
    await names.first().waitFor();
    assertEquals(await names.count(), 1);
    await page.goto(fixture.url);
    await page.getByRole("combobox", { name: "Status" }).selectOption("failed");
    await page.getByRole("heading", { name: "No run fits" }).waitFor();
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Show all runs" }).click();
    const boxes = page.getByRole("checkbox", { name: /support/ });
    await boxes.nth(1).waitFor(); // the list is empty while it is being read
    for (const box of await boxes.all()) await box.check();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL(`**/ui/compare?baseline=${fixture.old}&candidate=${fixture.now}`);
  },
);

suite.test("a test has a trend, whose points lead to the runs", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/?test=support`);
  const { page } = tab;
  await page.getByRole("heading", { name: "Trend of support" }).waitFor();
  await page.locator(".trend a").nth(1).waitFor();
  assertEquals(await page.locator(".trend a").count(), 2);
  const lines = page.locator(".trend polyline");
  assertEquals(await lines.count(), 2, "the runs of two models are not one line");
  await page.locator(".trend a").first().focus();
  await page.locator(".tip").getByText(/studio\/support-v2, .*: 0\.\d\d/).waitFor();
  await page.getByLabel("What the trend shows").selectOption("latency");
  await page.waitForURL(/trend=latency/);
  await page.getByText(/: median latency of each run/).waitFor();
  await checkAccessibility(page);
  await page.locator(".trend a").first().press("Enter");
  await page.waitForURL(`**/ui/runs/${fixture.old}`);
});

suite.test(
  "a run shows its result and the replies first, and scenarios, scores and labels in tabs",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/runs/${fixture.now}`);
    const { page } = tab;
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText(/^\d+ of 10 scenarios pass in every attempt$/).waitFor();
    await result.getByText("Against studio/support-v2, the last run of this test").waitFor();
    await page.locator(".turn-rows .turn-row").nth(3).waitFor();
    const reply = await page.locator(".turn-rows .turn-row").nth(1).boundingBox();
    assert(reply!.y < 800, `the second reply is ${reply!.y} px down`);
    await checkAccessibility(page);
    await page.getByRole("link", { name: "Scenarios", exact: true }).click();
    const cells = SUPPORT_BATCH.length * 4;
    await page.locator(".cell").nth(cells - 1).waitFor(); // they come after their heading
    assertEquals(await page.locator(".cell").count(), cells);
    await checkAccessibility(page);
    await page.getByRole("link", { name: "Scores", exact: true }).click();
    const headings = ["Scores", "Distribution of overall", "How reliably scenarios pass", "Labels"];
    for (const heading of headings) {
      await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    }
    await checkAccessibility(page);
    await page.getByText("scores of words in common").click();
    await page.getByRole("button", { name: "words in common", exact: true }).click();
    await page.getByRole("heading", { name: "Distribution of words in common" }).waitFor();
    assertStringIncludes(page.url(), "show=token_f1");
  },
);

suite.test("a telephone shows the marks of all attempts at a scenario", async (fixture, open) => {
  const viewport = { width: 390, height: 800 };
  await using tab = await open(`${fixture.url}/ui/runs/${fixture.now}?view=scenarios`, {
    viewport,
  });
  const { page } = tab;
  const marks = page.getByRole("row", { name: /order-status/ }).locator(".cell");
  await marks.nth(3).waitFor();
  const box = (await marks.nth(3).boundingBox())!;
  assert(box.x + box.width < viewport.width, `the last mark ends at ${box.x + box.width} px`);
  const frame = page.getByRole("region", { name: "Scenarios" });
  assertEquals(await frame.evaluate((box) => box.scrollWidth - box.clientWidth), 0);
  await checkAccessibility(page, { isQuick: true });
});

suite.test("a telephone says which text is the reference and which the reply", async (
  fixture,
  open,
) => {
  await using tab = await open(`${fixture.url}/ui/runs/${fixture.now}`, {
    viewport: { width: 390, height: 800 },
  });
  const { page } = tab;
  const row = page.locator(".turn-rows .turn-row").first();
  await row.getByText("Reference", { exact: true }).waitFor();
  await row.getByText("Reply", { exact: true }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await row.getByText("Reply", { exact: true }).waitFor({ state: "hidden" });
});

suite.test("the first turns do not wait for the head of their run", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/no/such/view`);
  const { page } = tab;
  const held = Promise.withResolvers<void>();
  await page.route(/\/summary$/, async (route) => {
    await held.promise;
    await route.continue();
  });
  const asked: string[] = [];
  page.on("request", (request) => {
    if (/\/turns\?.*limit=60/.test(request.url())) asked.push(request.url());
  });
  const first = page.waitForRequest(/\/turns\?/);
  await page.goto(`${fixture.url}/ui/runs/${fixture.smoke}`);
  await first;
  held.resolve();
  await page.locator(".turn-rows .name").first().waitFor();
  assertEquals(asked.length, 1);
});

suite.test("turns are filtered and sorted, and the address keeps it", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/runs/${fixture.now}`);
  const { page } = tab;
  const status = page.locator("#turns [role=status]");
  await status.getByText("48 turns", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Passed \d+$/ }).click();
  await page.getByText("turns fit the filters").waitFor();
  await page.getByLabel("Search messages, replies and references").fill("PARCEL");
  await page.waitForURL(/q=PARCEL/);
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".turn-rows .name")].every((name) =>
      /refund-30-days|late-parcel/.test(name.textContent ?? "")
    )
  );
  await page.getByText(/\d+ turns? fits? the filters/).waitFor();
  const found = await status.textContent();
  await page.reload();
  await page.getByText(found!).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByLabel("Lowest score").fill("0.5");
  await page.waitForURL(/min=0.5/);
  await page.getByLabel("Longest latency, ms").fill("60000");
  await page.waitForURL(/latency_max=60000/);
  await page.getByRole("combobox", { name: "Order" }).selectOption("-latency_ms");
  await page.waitForURL(/sort=-latency_ms/);
  await checkAccessibility(page);
  await page.goto(`${fixture.url}/ui/runs/${fixture.now}?view=scores`);
  await page.locator(".confusion td a").first().click();
  await page.getByRole("button", { name: /Remove the filter intent/ }).click();
  assert(!page.url().includes("label_key"));
});

suite.test(
  "a turn shows the conversation, the difference, every score and the votes",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/runs/${fixture.now}?turn=0/1/1`);
    const { page } = tab;
    await page.getByRole("heading", { name: "refund-30-days, turn 2, attempt 1" }).waitFor();
    await page.getByRole("heading", { name: "Conversation" }).waitFor();
    await page.getByRole("heading", { name: "Judge" }).waitFor();
    await becomes(() => page.locator(".votes .vote").count(), 3);
    await page.getByText("Scores of words in common").click();
    await page.getByText("letters in common (chrF)", { exact: true }).click();
    await page.getByText("Definition").first().waitFor();
    await page.getByText(/^sacreBLEU .* \/ 100; the self-test deviates by/).first().waitFor();
    await page.getByRole("button", { name: /^#3/ }).click();
    await page.getByText("Attempt 3", { exact: true }).waitFor();
    await page.getByText("Raw JSON").click();
    await page.getByText('"user_message"').first().waitFor();
    await checkAccessibility(page);
  },
);

suite.test("j and k go through the failing turns, and u back to the run", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/runs/${fixture.old}`);
  const { page } = tab;
  await page.locator(".turn-rows .turn-row").nth(5).waitFor();
  const placeOf = () => new URL(page.url()).searchParams.get("turn");
  await page.keyboard.press("j");
  await page.waitForURL(/turn=/);
  await page.getByRole("heading", { name: "Reply and reference" }).waitFor();
  const first = placeOf();
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.searchParams.get("turn") !== first);
  await page.keyboard.press("k");
  await page.waitForURL((url) => url.searchParams.get("turn") === first);
  await page.keyboard.press("k");
  await page.getByText("There is no failing turn before this one.").waitFor();
  await page.keyboard.press("u");
  await page.waitForURL((url) => !url.searchParams.has("turn"));
});

suite.test("j opens the first of the turns that are shown now", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/runs/${fixture.now}`);
  const { page } = tab;
  const first = page.locator(".turn-rows a.name").first();
  await first.waitFor();
  const before = await first.getAttribute("href");
  await page.getByRole("button", { name: /^Passed \d+$/ }).click();
  await page.getByText("turns fit the filters").waitFor();
  const wanted = await first.getAttribute("href");
  assert(wanted !== before);
  await page.getByRole("heading", { level: 2 }).click(); // keys are not for whoever is in a field
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "Reply and reference" }).waitFor();
  assertStringIncludes(page.url(), wanted!);
});

suite.test("the tools that were called stand beside those expected", async (fixture, open) => {
  await using double = await startProviderDouble(() =>
    Response.json(completionBody({
      content: "It is in Leipzig.",
      finishReason: "stop",
      toolCalls: [{ name: "track_order", arguments: '{"order":4711}' }],
    }))
  );
  const { id, interactions } = SUPPORT_BATCH[1]!;
  const run = await fixture.evaluate({
    endpoint: double.baseUrl,
    attempts: 1,
    test_batch: [{
      id,
      interactions: interactions.map((turn) => ({
        ...turn,
        reference_tools: [{ name: "track_parcel" }],
      })),
    }],
  });
  await using tab = await open(`${fixture.url}/ui/runs/${run}?turn=0/1/0`);
  await tab.page.getByText("Expected (exact): track_parcel").waitFor();
  await tab.page.getByText("track_order", { exact: true }).waitFor();
  await tab.page.getByText('{"order":4711}', { exact: true }).waitFor();
  await checkAccessibility(tab.page);
});

suite.test("the list of runs is read again by itself", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/no/such/view`);
  const { page } = tab;
  await page.clock.install();
  await page.goto(fixture.url);
  await page.getByRole("link", { name: "smoke" }).waitFor();
  await fixture.evaluate({
    attempts: 1,
    test_name: "newer",
    test_batch: SUPPORT_BATCH.slice(0, 1),
  });
  await page.clock.runFor(11_000);
  await page.getByRole("link", { name: "newer" }).waitFor();
});

suite.test("what failed is retried from the page", async (fixture, open) => {
  let isUp = false;
  await using double = await startProviderDouble(({ body }) =>
    isUp || !String(body.messages.at(-1).content).includes("4711")
      ? Response.json(completionBody({ content: "It is in Leipzig." }))
      : Response.json({ error: { message: "overloaded" } }, { status: 500 })
  );
  const id = await fixture.evaluate({
    test_name: "half of it",
    endpoint: double.baseUrl,
    attempts: 1,
    test_batch: SUPPORT_BATCH.slice(0, 3),
  });
  isUp = true;
  await using tab = await open(`${fixture.url}/ui/runs/${id}`);
  const { page } = tab;
  await page.getByText("1 call failed:").waitFor();
  await page.getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: "Retry what failed" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/ui/runs/") && !url.href.includes(id));
  await page.locator(".figures-grid").getByText("0 of 4", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Earlier run", exact: true }).click();
  await page.waitForURL(`**/ui/runs/${id}`);
});

suite.test("a run that does not exist says so", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/runs/none`);
  tab.expect(/404/);
  await tab.page.getByText(/no run has this id/).first().waitFor();
  await tab.page.getByRole("link", { name: "All runs" }).waitFor();
  assertEquals(await tab.page.getByRole("button", { name: "Try again" }).count(), 0);
  await checkAccessibility(tab.page);
});
