import { assert, assertEquals } from "@std/assert";
import { completionBody, startProviderDouble } from "../fakes/provider_double.ts";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const RIGHT = "The drill has a warranty of three years from the day of delivery.";
const UNRELATED = "Penguins swim.";
const MARKED_UP = `**Sure.** ${RIGHT}\n\n${"It covers the motor. ".repeat(40)}`;

/** What is asked, and the replies of one attempt after the other. */
const REPLIES: Record<string, string[]> = {
  steady: [RIGHT],
  shaky: [RIGHT, UNRELATED],
  formatted: [MARKED_UP],
};

const batchOf = (names: string[]) =>
  names.map((id) => ({
    id,
    interactions: [{ id: "1", user_message: id, reference_reply: RIGHT }],
  }));

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture({ environment: { JUDGE_BASE_URL: "" } });
  const calls = new Map<string, number>();
  const model = await startProviderDouble(({ body }) => {
    const asked = body.messages.at(-1).content;
    const call = calls.get(asked) ?? 0;
    calls.set(asked, call + 1);
    return Response.json(
      completionBody({ content: REPLIES[asked]![call % REPLIES[asked]!.length]! }),
    );
  });
  const evaluate = (names: string[], attempts: number) =>
    fixture.evaluate({ endpoint: model.baseUrl, test_batch: batchOf(names), attempts });
  return {
    url: fixture.url,
    evaluate,
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
});

suite.test("a scenario that passes in some attempts is a class of its own on every page", async (
  { url, evaluate },
  open,
) => {
  const run = await evaluate(["steady", "shaky"], 2);
  await using tab = await open(`${url}/ui/runs/${run}`);
  const { page } = tab;
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("1 of 2 scenarios passes in every attempt").waitFor();
  await becomes(
    () => result.getByRole("list", { name: "Scenarios" }).getByRole("listitem").allInnerTexts(),
    ["1 always pass", "1 pass sometimes"],
  );
  await page.getByRole("link", { name: "Scenarios", exact: true }).click();
  const first = page.locator("#main table tbody tr").first(); // unstable ones come first
  await first.getByRole("link", { name: "shaky", exact: true }).waitFor();
  await first.getByText("1 of 2", { exact: true }).waitFor();
  await page.goto(url);
  await page.locator("table.runs tbody tr").getByText("1 / 2", { exact: true }).waitFor();
});

suite.test("of one attempt no stability is shown", async ({ url, evaluate }, open) => {
  const run = await evaluate(["steady", "formatted"], 1);
  await using tab = await open(`${url}/ui/runs/${run}?view=scores`);
  const { page } = tab;
  await page.getByRole("heading", { name: "Distribution of overall" }).waitFor();
  assertEquals(await page.getByText("How reliably scenarios pass").count(), 0);
  assertEquals(await page.getByText("in every attempt").count(), 0);
});

suite.test("texts have one line, three or all, are rendered or plain, and are not too wide", async (
  { url, evaluate },
  open,
) => {
  const run = await evaluate(["formatted"], 1);
  await using tab = await open(`${url}/ui/runs/${run}`, { viewport: { width: 2400, height: 900 } });
  const { page } = tab;
  const reply = page.locator(".turn-rows .reply");
  await reply.locator("strong", { hasText: "Sure." }).waitFor();
  const height = async () => (await reply.locator(".clamp").boundingBox())!.height;
  const three = await height();
  await page.getByRole("button", { name: "1 line" }).click();
  await becomes(async () => await height() < three, true);
  await page.getByRole("button", { name: "All", exact: true }).last().click();
  await page.waitForURL(/lines=all/);
  await page.getByRole("button", { name: "Plain" }).click();
  await reply.getByText("**Sure.**").waitFor();
  const widths = await page.locator(".turn-rows :is(.reply, .asked-for) > *").evaluateAll((texts) =>
    texts.map((text) => text.getBoundingClientRect().width)
  );
  assert(widths.every((width) => width <= 760), widths.join());
  await checkAccessibility(page, { isQuick: true });
});

suite.test("a reply that shares almost nothing with its reference has no marks", async (
  { url, evaluate },
  open,
) => {
  const run = await evaluate(["shaky"], 2);
  await using tab = await open(`${url}/ui/runs/${run}`);
  const row = tab.page.locator(".turn-rows .turn-row", { hasText: UNRELATED });
  await row.waitFor();
  assertEquals(await row.locator(".diff").count(), 0);
});

suite.test("a remark of the service is one sentence, and says why on demand", async (
  { url, evaluate },
  open,
) => {
  const run = await evaluate(["steady"], 1);
  await using tab = await open(`${url}/ui/runs/${run}`);
  const { page } = tab;
  const note = page.locator("details.note", { hasText: "The score is similarity alone" });
  assertEquals(await note.locator("p").isVisible(), false);
  await note.getByText("Why?").click();
  await note.locator("p").waitFor();
});

suite.test("the verdict against the last run has its place before it is known", async (
  { url, evaluate },
  open,
) => {
  await evaluate(["steady"], 1);
  const run = await evaluate(["steady", "shaky"], 1);
  await using tab = await open("about:blank");
  const { page } = tab;
  const isSeen = Promise.withResolvers<void>();
  await page.route(/(?<!ui)\/compare\?/, async (route) => {
    await isSeen.promise;
    await route.fallback();
  });
  await page.goto(`${url}/ui/runs/${run}`);
  const result = page.getByRole("region", { name: "Result" });
  const waiting = result.getByText("Comparing with the last run…");
  await waiting.waitFor();
  isSeen.resolve();
  await result.locator(".against").waitFor();
  assertEquals(await waiting.count(), 0);
  await page.getByRole("link", { name: "Trend of support" }).click();
  await page.waitForURL(/\?test=support$/);
});
