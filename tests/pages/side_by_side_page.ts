import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { completionBody, startProviderDouble } from "../fakes/provider_double.ts";
import { becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const TOOLS = [{ name: "track_order", args: { order: 4711 } }];
const LAMP = "You can return the lamp within 30 days of delivery.";
const TURNS: Record<string, [asked: string, right: string]> = {
  hours: ["When are you open?", "We are open from 9 to 5 on weekdays."],
  lamp: ["May I return the lamp?", LAMP],
  order: ["Where is order 4711?", "Order 4711 is in Leipzig."],
};
const BATCH = Object.entries(TURNS).map(([id, [user_message, reference_reply]]) => {
  const reference_tools = id === "order" ? TOOLS : undefined;
  return { id, interactions: [{ id: "1", user_message, reference_reply, reference_tools }] };
});
const MODELS = ["m/steady", "m/flaky", "m/other"];

/** `m/flaky` loses its tool call at the second attempt; all but `m/steady` are wrong about the lamp. */
function startModels() {
  const calls = new Map<string, number>();
  return startProviderDouble(({ body }) => {
    const { model, messages: [{ content: asked }] } = body;
    const [, right] = Object.values(TURNS).find(([question]) => question === asked)!;
    const call = (calls.get(model + asked) ?? 0) + 1;
    calls.set(model + asked, call);
    const isLost = asked !== TURNS.order![0] || model === "m/flaky" && call === 2;
    return Response.json(completionBody({
      content: model === "m/steady" ? right : right.replace("30", "14"),
      finishReason: "stop",
      toolCalls: isLost ? [] : [{ name: "track_order", arguments: '{"order":4711}' }],
    }));
  });
}

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture({ environment: { JUDGE_BASE_URL: "", JUDGE_MODEL: "" } });
  const models = await startModels();
  const asked = { test_batch: BATCH, endpoint: models.baseUrl, test_name: "shop" };
  const earlier = await fixture.evaluate({ ...asked, model_id: "m/steady", attempts: 1 });
  const answer = await fetch(`${fixture.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...asked, model_ids: MODELS, attempts: 2 }),
  });
  const { group_id: group, runs } = await answer.json();
  return {
    ...fixture,
    group,
    earlier,
    runs: runs.map(({ run_id }: { run_id: string }) => run_id) as string[],
    async [Symbol.asyncDispose]() {
      await models[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
});

const rows = (page: Page) => page.locator(".reply-grid tbody tr");
/** The reply of a model at the turn with the tool call. */
const replyOf = (page: Page, model: string) =>
  rows(page).filter({ hasText: "order, turn 1" }).locator(`td[data-label="${model}"]`);
const differenceOf = async (row: Locator) =>
  Number(/difference (\d\.\d\d)/.exec(await row.locator("th").innerText())![1]);

suite.test("the turns whose means differ most come first, and a lost tool call is named", async (
  { url, group },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?group=${group}`);
  const { page } = tab;
  await page.getByText("3 turns. Each cell shows the worst attempt; a mark opens its attempt.")
    .waitFor();
  const differences = [];
  for (const row of await rows(page).all()) differences.push(await differenceOf(row));
  assertEquals(differences, differences.toSorted().reverse());
  assert(differences[1]! > 0 && differences[2] === 0, differences.join());
  const flaky = replyOf(page, "m/flaky");
  await flaky.getByText("1 of 2 pass").waitFor();
  await flaky.getByText('tool calls: expected track_order({"order":4711}) (exact), called none')
    .waitFor();
  const lamp = rows(page).filter({ hasText: "lamp, turn 1" });
  assertEquals(await lamp.locator(".diff.wrong").allInnerTexts(), ["14", "14"]);

  await page.getByLabel("Order").selectOption("position");
  await rows(page).first().getByText("hours, turn 1").waitFor();
  for (
    const [filter, ids] of [
      ["tools", ["order"]],
      ["contradicts", ["lamp"]],
      ["different", ["lamp", "order"]],
      ["failing", ["lamp", "order"]],
    ] as const
  ) {
    await page.getByLabel("Which turns").selectOption(filter);
    await becomes(() => rows(page).locator("th bdi").allInnerTexts(), [...ids]);
  }
  await page.getByLabel("Search in the turns").fill("no such text");
  await page.getByRole("heading", { name: "No turn fits" }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await becomes(() => rows(page).count(), 3);
  await page.getByLabel("Search in the turns").fill("where is order");
  await becomes(() => rows(page).locator("th bdi").allInnerTexts(), ["order"]);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitem", { name: "Hide m/other" }).click();
  await becomes(() => rows(page).first().locator("td").count(), 2);
});

suite.test("keys walk through the grid, grade a reply and open it; back leads to the grid", async (
  { url, group, runs },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?group=${group}&show=tools`);
  const { page } = tab;
  await becomes(() => rows(page).count(), 1);
  await page.keyboard.press("j");
  await untilFocused(replyOf(page, "m/steady").locator("a.badge"));
  await page.keyboard.press("l");
  await untilFocused(replyOf(page, "m/flaky").locator("a.badge"));
  await page.keyboard.press("2");
  await page.getByText("The grade is saved.").waitFor();
  const chosen = replyOf(page, "m/flaky").getByRole("button", { name: "2: mostly wrong" });
  await becomes(() => chosen.getAttribute("aria-pressed"), "true");
  const graded = await (await fetch(`${url}/runs/${runs[1]}/grades`)).json();
  assertEquals(graded.grades.map(({ value }: { value: number }) => value), [0.25]);
  await checkAccessibility(page);

  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Reply and reference" }).waitFor();
  const steps = page.getByRole("form", { name: "Grade this turn" });
  await steps.getByRole("button", { name: "mostly wrong", pressed: true }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "#1" }).waitFor();
  await page.keyboard.press("u");
  await page.waitForURL(`${url}/ui/compare?group=${group}&show=tools`);
  await chosen.and(page.locator("[aria-pressed=true]")).waitFor();
  const marks = replyOf(page, "m/flaky").locator(".marks a");
  assertEquals((await marks.allInnerTexts()).toSorted(), ["✓", "✕"]);
  const failed = (await marks.allInnerTexts()).indexOf("✕") + 1;
  await marks.filter({ hasText: "✕" }).click();
  await page.waitForURL(new RegExp(`/ui/runs/${runs[1]}.+turn=2/${failed}/0$`));
  await page.getByRole("button", { name: "The comparison" }).click();
  await becomes(() => rows(page).count(), 1);
  await page.keyboard.press("?");
  await page.getByText("Grade the reply, from wrong to right").waitFor();
});

suite.test(
  "a group without a winner says why and what would show it, and has its p-values behind that",
  async (
    { url, group },
    open,
  ) => {
    await using tab = await open(`${url}/ui/compare?group=${group}`);
    const { page } = tab;
    const verdict = page.locator(".verdict");
    await verdict.getByText("None of the 3 models is clearly better on 3 scenarios.").waitFor();
    await verdict.getByText(/it takes about \d+ like these/).waitFor();
    assert(!/\bp\b/.test(await verdict.innerText()));
    await verdict.getByText("Why?").click();
    const pair = verdict.getByRole("row", { name: "m/steady → m/flaky" });
    assertMatch(await pair.innerText(), /−0\.\d{3}\s+(1\.0|0\.\d\d)\s/);
  },
);

suite.test("no model that is better is in red", async ({ url, group }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.route(new RegExp(`/compare\\?group=${group}$`), async (route) => {
    if (route.request().isNavigationRequest()) return route.fallback();
    const report = await (await fetch(route.request().url())).json();
    const pairs = report.pairs.map((pair: { baseline: string }) => ({
      ...pair,
      verdict: pair.baseline === MODELS[0] ? "regressed" : "inconclusive",
      better: pair.baseline === MODELS[0] ? MODELS[0] : null,
    }));
    await route.fulfill({ json: { ...report, pairs, best: [MODELS[0]] } });
  });
  await page.goto(`${url}/ui/compare?group=${group}`);
  await page.getByText("m/steady is better than the 2 other models").waitFor();
  await becomes(() => rows(page).count(), 3);
  await page.getByText("Why?").click();
  await page.locator(".badge.good", { hasText: "m/steady is better" }).first().waitFor();
  const red = await page.locator(".badge.bad").allInnerTexts();
  assertEquals(red.filter((text) => !["worse", "contradicts"].includes(text)), []);
});

suite.test("a comparison names what changed a turn, and marks wrong values in both replies", async (
  { url, runs: [steady, flaky, other] },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?baseline=${steady}&candidate=${flaky}`);
  const { page } = tab;
  const changed = (id: string) => page.locator(".changes details", { hasText: `${id}, turn 1` });
  await changed("order").getByText("Because of tool calls 1.00 → 0.00").waitFor();
  await changed("order").getByText(
    'tool calls: expected track_order({"order":4711}) (exact), called none',
  ).waitFor();
  assertEquals(await changed("lamp").locator(".diff.wrong").allInnerTexts(), ["14"]);
  await checkAccessibility(page);
  await changed("order").getByRole("link", { name: /^Candidate, attempt/ }).click();
  await page.getByRole("heading", { name: "Reply and reference" }).waitFor();
  await page.keyboard.press("u");
  await page.waitForURL(/\/ui\/compare\?baseline=.+&candidate=.+/);

  // Both have the value, so it is in no difference.
  const turn = { scenario: 1, turn: 0, mean: 0.5 };
  const row = { scenario_id: "lamp", interaction_id: "1", difference: 0.1 };
  await page.route(/\/compare\/turns\?/, (route) =>
    route.fulfill({
      json: { turns: [{ ...row, baseline: turn, candidate: turn }], total: 1, next_cursor: null },
    }));
  await page.goto(`${url}/ui/compare?baseline=${flaky}&candidate=${other}`);
  await becomes(() => changed("lamp").locator(".diff.wrong").allInnerTexts(), ["14", "14"]);
});

suite.test(
  "a run is compared with what is obvious: its group, the last run, and the tag main",
  async (
    { url, earlier, runs: [steady, flaky] },
    open,
  ) => {
    await fetch(`${url}/runs/${earlier}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tags: ["main"] }),
    });
    await using tab = await open(`${url}/ui/runs/${flaky}`);
    const { page } = tab;
    await page.getByRole("link", { name: "Compare with…" }).click();
    const obvious = page.getByRole("list", { name: "Obvious runs" }).getByRole(
      "listitem",
    );
    await becomes(() => obvious.count(), 3);
    await obvious.filter({ hasText: "m/steady" }).filter({ hasText: "tagged main" }).waitFor();
    await checkAccessibility(page);
    await obvious.filter({ hasText: "m/steady" }).filter({ hasText: "of the same group" })
      .getByRole("link").click();
    await page.waitForURL(`${url}/ui/compare?candidate=${flaky}&baseline=${steady}`);
    await page.locator(".verdict .sentence").waitFor();
  },
);

suite.test("the choices of a comparison are not cut on a laptop", async (
  { url, runs: [steady, flaky] },
  open,
) => {
  const viewport = { width: 1440, height: 900 };
  const address = `${url}/ui/compare?baseline=${steady}&candidate=${flaky}`;
  await using tab = await open(address, { viewport });
  const { page } = tab;
  await page.locator(".verdict .sentence").waitFor();
  for (const name of ["Baseline", "Candidate", "Smallest difference that matters"]) {
    const select = page.getByLabel(name, { exact: true });
    const width = await select.evaluate((select: HTMLSelectElement) => {
      const copy = document.createElement("select");
      copy.className = "input auto";
      copy.style.maxWidth = "none";
      copy.append(new Option(select.selectedOptions[0]!.text));
      document.body.append(copy);
      const { width } = copy.getBoundingClientRect();
      copy.remove();
      return width;
    });
    assert(width <= (await select.boundingBox())!.width, name);
  }
});
