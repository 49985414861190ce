import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { becomes, pageSuite } from "./browser.ts";
import { ask, startScriptedAgent } from "./chat.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const [agent, evaluation] = await Promise.all([startScriptedAgent(), startEvalFixture()]);
  return {
    ...agent,
    evaluation,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await evaluation[Symbol.asyncDispose]();
    },
  };
});

suite.test("a conversation is printed whole, without what is around it", async (agent, open) => {
  agent.hub.answers.set("tell me much", "A paragraph.\n\n".repeat(100));
  await using tab = await open(agent.url);
  const { page } = tab;
  await ask(page, "tell me much");
  await page.emulateMedia({ media: "print" });
  const { content, paper } = await page.evaluate(() => ({
    content: document.querySelector(".transcript-content")!.getBoundingClientRect().height,
    paper: document.documentElement.scrollHeight,
  }));
  assert(content > 2_000);
  assert(paper >= Math.floor(content), `${paper} of ${content} pixels are printed`);
  assertEquals(await page.getByRole("navigation", { name: "Conversations" }).isVisible(), false);
  assertEquals(await page.locator(".topbar").isVisible(), false);
});

suite.test("who has chosen the dark theme prints dark text", async (agent, open) => {
  await using tab = await open(agent.url, { colorScheme: "light" });
  const { page } = tab;
  const readColor = () => page.evaluate(() => getComputedStyle(document.body).color);
  const dark = await readColor();
  await page.evaluate(() => localStorage.setItem("assay-theme", "dark"));
  await page.reload();
  await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
  assert(await readColor() !== dark);
  await page.emulateMedia({ media: "print" });
  assertEquals(await readColor(), dark);
});

suite.test("a run is printed with its turns and without its controls", async (services, open) => {
  const { evaluation } = services;
  const run = await evaluation.evaluate({ attempts: 10 });
  await using tab = await open(`${evaluation.url}/ui/runs/${run}`);
  const { page } = tab;
  await page.waitForResponse(/\/turns\?.*cursor=/); // the rows beyond those in sight
  await page.emulateMedia({ media: "print" });
  const paper = await page.evaluate(() => {
    dispatchEvent(new Event("beforeprint"));
    const rows = [...document.querySelectorAll(".turn-rows .turn-row")];
    const places = rows.map((row) => row.getBoundingClientRect().top);
    return {
      rows: rows.length,
      // Each below the one before.
      areInOrder: places.every((top, index) => index === 0 || top > places[index - 1]!),
      isWhole: document.querySelector(".turns")!.getBoundingClientRect().bottom >= places.at(-1)!,
    };
  });
  assertEquals(paper, { rows: 120, areInOrder: true, isWhole: true });
  const controls = page.locator("button, input, select").filter({ visible: true });
  const names = await controls.allInnerTexts();
  assertEquals(names.filter((name) => /Export|Columns|Compare/.test(name)), []);
  assertEquals(await page.locator(".reply-tools .input:visible").count(), 0);
  assertEquals(await page.getByRole("navigation").filter({ visible: true }).count(), 0);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await becomes(async () => await page.locator(".turn-rows .turn-row").count() < 60, true);
  const pdf = new TextDecoder("latin1").decode(await page.pdf());
  assert(pdf.split(/\/Type\s*\/Page\b/).length > 6, "a PDF has them, too");
});

suite.test("a long conversation shows the turn, and is printed whole", async (services, open) => {
  const { evaluation } = services;
  const interactions = Array.from({ length: 20 }, (_, index) => ({
    id: String(index + 1),
    user_message: `Question ${index + 1}`,
    reference_reply: "A line.\n".repeat(60),
  }));
  const test_batch = { id: "long", interactions };
  const run = await evaluation.evaluate({ test_batch, attempts: 1, judge_votes: 1 });
  await using tab = await open(`${evaluation.url}/ui/runs/${run}?turn=0/1/19`);
  const { page } = tab;
  const conversation = page.getByRole("list", { name: "Conversation" });
  const question = conversation.getByText("Question 20", { exact: true });
  await question.waitFor();
  const [box, place] = [await conversation.boundingBox(), await question.boundingBox()];
  assert(place!.y >= box!.y && place!.y < box!.y + box!.height, JSON.stringify([box, place]));
  await page.emulateMedia({ media: "print" });
  const cut = await page.locator(".transcript, .text").evaluateAll((texts) =>
    texts.filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight).length
  );
  assertEquals(cut, 0);
});

suite.test("paper names the filters of the turns that are on it", async (services, open) => {
  const { evaluation } = services;
  const run = await evaluation.evaluate();
  const filters = "q=order&outcome=passed&min=0.2&scenario=order-status";
  await using tab = await open(`${evaluation.url}/ui/runs/${run}?${filters}`);
  const { page } = tab;
  await page.locator(".turn-rows .name").first().waitFor();
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const status = await page.locator("#turns").getByRole("status").innerText();
  assertStringIncludes(status, "“order”, passed, Scenario: order-status, overall 0.2 to 1");
});
