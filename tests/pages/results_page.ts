import { assertEquals } from "@std/assert";
import { completionBody, startProviderDouble } from "../fakes/provider_double.ts";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(() => startEvalFixture({ environment: { JUDGE_BASE_URL: "" } }));

/** What is asked, what should be answered, and what the model answers. */
const TURNS: Record<string, [reference: string, reply: string]> = {
  "Can I return a lamp that I have used?": [
    "Yes, you can return a used lamp.",
    "No, you cannot return a used lamp.",
  ],
  "Wie lange gilt die Garantie?": [
    "Die Garantie gilt 36 Monate ab der Lieferung.",
    "Die Garantie gilt 24 Monate ab der Lieferung.",
  ],
  "Do you ship to Norway?": ["Yes, we ship to Norway.", "Yes, we ship to Norway."],
};

const BATCH = Object.entries(TURNS).map(([user_message, [reference_reply]], index) => ({
  id: `question-${index + 1}`,
  interactions: [{ id: "1", user_message, reference_reply }],
}));

function startModel(reply = (right: string) => right) {
  return startProviderDouble(({ body }) =>
    Response.json(completionBody({ content: reply(TURNS[body.messages.at(-1).content]![1]) }))
  );
}

suite.test(
  "replies that contradict their references are counted, filtered and named, in any language",
  async (fixture, open) => {
    await using model = await startModel();
    const run = await fixture.evaluate({
      endpoint: model.baseUrl,
      test_batch: BATCH,
      attempts: 1,
      pass_threshold: 0, // only what bars a turn keeps it from passing
    });
    await using tab = await open(`${fixture.url}/ui/runs/${run}`);
    const { page } = tab;
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("1 of 3 scenarios pass").waitFor();
    const badges = page.locator(".turn-rows .badge");
    await becomes(
      async () => (await badges.allTextContents()).toSorted(),
      ["contradicts", "contradicts", "passed"],
    );
    await page.getByRole("button", { name: "Contradicts 2" }).waitFor();
    await result.getByRole("link", { name: "2 turns" }).click();
    await page.waitForURL(/\?agreement=contradicts&outcome=below$/);
    await becomes(() => badges.allTextContents(), ["contradicts", "contradicts"]);
    await page.getByRole("button", { name: "Contradicts 2", pressed: true }).waitFor();
    await checkAccessibility(page);
    await page.locator(".turn-rows .name").first().click();
    await page.locator(".run-head .badge").waitFor();
    assertEquals(await page.locator(".run-head .badge").textContent(), "contradicts");
  },
);

suite.test("a wrong value is marked as wrong, and other differences are not", async (
  fixture,
  open,
) => {
  await using model = await startModel((right) => `Sure. ${right}`);
  const run = await fixture.evaluate({
    endpoint: model.baseUrl,
    test_batch: BATCH.slice(1, 2),
    attempts: 1,
  });
  await using tab = await open(`${fixture.url}/ui/runs/${run}`);
  const { page } = tab;
  const marked = (scope: string) =>
    page.locator(scope).locator(".diff").evaluateAll((marks) =>
      marks.map((mark) => `${mark.textContent.trim()}: ${mark.className}`)
    );
  const expected = ["36: diff wrong", "Sure.: diff", "24: diff wrong"];
  await becomes(() => marked(".turn-row"), expected);
  await page.getByText("wrong value: 24 Monate instead of 36 Monate").waitFor();
  await page.locator(".turn-rows .name").click();
  await becomes(() => marked(".pair"), expected);
  const weight = (mark: string) =>
    page.locator(mark).first().evaluate((element) => getComputedStyle(element).fontWeight);
  assertEquals([await weight("ins.diff"), await weight("ins.wrong")], ["400", "650"]);
  await checkAccessibility(page, { isQuick: true });
});

suite.test("what a reply leaves out is not wrong because it has the unit of a wrong value", async (
  fixture,
  open,
) => {
  const message = "How long may I keep the lamp?";
  const right = "You can return the lamp within 30 days. We refund it within 5 days.";
  await using model = await startProviderDouble(() =>
    Response.json(completionBody({ content: "You can return the lamp within 14 days." }))
  );
  const run = await fixture.evaluate({
    endpoint: model.baseUrl,
    test_batch: [{
      id: "lamp",
      interactions: [{ id: "1", user_message: message, reference_reply: right }],
    }],
    attempts: 1,
  });
  await using tab = await open(`${fixture.url}/ui/runs/${run}`);
  const { page } = tab;
  await page.getByText("wrong value: 14 days instead of 30 days").waitFor();
  assertEquals(await page.locator(".turn-row .wrong").allTextContents(), ["30", "14"]);
  assertEquals(
    (await page.locator("del.diff").allTextContents()).at(-1)!.trim(),
    "We refund it within 5 days.",
  );
});

suite.test("each paragraph of a reply has the direction of most of its letters", async (
  fixture,
  open,
) => {
  const reference = "سيصل طلبك رقم 4711 غدًا قبل الظهر.";
  const replies = [
    `OK. ${reference}\n\nYour order: طلبك arrives tomorrow.`,
    `**OK.** ${reference}\n\n- ${reference}\n- Tomorrow.`, // Markdown
  ];
  await using model = await startProviderDouble(({ body }) =>
    Response.json(completionBody({ content: replies[Number(body.messages.at(-1).content)]! }))
  );
  const interactions = replies.map((_, index) => ({
    id: String(index),
    user_message: String(index),
    reference_reply: reference,
  }));
  const run = await fixture.evaluate({
    endpoint: model.baseUrl,
    test_batch: [{ id: "arabic", interactions }],
    attempts: 1,
  });
  await using tab = await open(`${fixture.url}/ui/runs/${run}?sort=position&lines=all`);
  const { page } = tab;
  const directions = (row: number, part: string) =>
    page.locator(".turn-rows .turn-row").nth(row).locator(part).evaluateAll((parts) =>
      parts.map((part) => getComputedStyle(part).direction)
    );
  await becomes(() => directions(0, ".asked-for .plain-text > div"), ["rtl"]);
  await becomes(() => directions(0, ".reply .plain-text > div"), ["rtl", "ltr", "ltr"]);
  await becomes(() => directions(1, ".reply :is(p, li)"), ["rtl", "rtl", "ltr"]);
});

suite.test(
  "a contradicting reply that a judge accepts has passed, and has no reason not to",
  async (_, open) => {
    await using fixture = await startEvalFixture(); // its judge refuses nothing but 14
    await using model = await startModel((reply) => reply.replace("24", "14"));
    const run = await fixture.evaluate({
      endpoint: model.baseUrl,
      test_batch: BATCH,
      attempts: 1,
      pass_threshold: 0,
    });
    await using tab = await open(`${fixture.url}/ui/runs/${run}`);
    const { page } = tab;
    const rows = page.locator(".turn-rows .turn-row");
    const badgeOf = (text: string) =>
      rows.filter({ hasText: text }).locator(".badge").textContent();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("2 of 3 scenarios pass").waitFor();
    await becomes(() => badgeOf("Garantie"), "contradicts");
    assertEquals(await badgeOf("used lamp"), "passed");
    assertEquals(await rows.filter({ hasText: "used lamp" }).locator(".why").count(), 0);
    await page.getByRole("button", { name: "Contradicts 1" }).waitFor();
    await page.getByRole("button", { name: "Passed 2" }).waitFor();
    await result.getByRole("link", { name: "1 turn" }).click();
    await becomes(() => rows.locator(".badge").allTextContents(), ["contradicts"]);
  },
);

suite.test("a run of which no score is known says so in lists, and why", async (fixture, open) => {
  await using down = await startProviderDouble(() =>
    Response.json({ error: { message: "CUDA out of memory" } }, { status: 500 })
  );
  await using model = await startModel();
  const [first] = BATCH;
  const unexpected = {
    ...first!,
    interactions: [{ id: "1", user_message: "Do you ship to Norway?" }],
  };
  const fields = { attempts: 1, test_name: "unknown" };
  await fixture.evaluate({ ...fields, endpoint: down.baseUrl, model_id: "a/down" });
  const runs = { ...fields, endpoint: model.baseUrl };
  await fixture.evaluate({ ...runs, test_batch: [unexpected], model_id: "a/unexpected" });
  await fixture.evaluate({ ...runs, test_batch: BATCH, model_id: "a/known" });
  await using tab = await open(`${fixture.url}/?test=unknown`);
  const { page } = tab;
  const scoreOf = (model: string) =>
    page.getByRole("row").filter({ hasText: model }).locator(".score");
  await scoreOf("a/down").getByText("all calls failed", { exact: true }).waitFor();
  await scoreOf("a/unexpected").getByText("none: nothing was expected").waitFor();
  await scoreOf("a/known").getByText(/^0\.\d\d$/).waitFor();
  await page.getByText("A trend needs runs of this test at two times").waitFor();
  const statuses = page.locator("td:not(.score)").locator(".badge.good, .badge.bad");
  assertEquals(await statuses.count(), 0, "a status has a colour");
  await checkAccessibility(page);
});

suite.test("a run that compares names by vectors alone says what is missing", async (_, open) => {
  await using model = await startProviderDouble(({ body }) =>
    Response.json(
      body.input
        ? { data: body.input.map(() => ({ embedding: [1, 2] })) }
        : completionBody({ content: "Die Hauptstadt heißt München." }),
    )
  );
  await using fixture = await startEvalFixture({
    environment: {
      JUDGE_BASE_URL: "",
      EMBEDDINGS_BASE_URL: model.baseUrl,
      EMBEDDINGS_MODEL: "vectors",
    },
  });
  const interactions = [{
    id: "1",
    user_message: "Wie heißt die Landeshauptstadt von Nordrhein-Westfalen?",
    reference_reply: "Düsseldorf",
  }];
  const run = await fixture.evaluate({
    endpoint: model.baseUrl,
    test_batch: [{ id: "name", interactions }],
    attempts: 1,
  });
  await using tab = await open(`${fixture.url}/ui/runs/${run}`);
  const result = tab.page.getByRole("region", { name: "Result" });
  await result.getByText("There is no score").waitFor();
  await result.getByText(/^The overall is missing: the reference is a single word/).waitFor();
  await tab.page.goto(fixture.url);
  await tab.page.getByText("none: scores are missing").waitFor();
});

const DOT = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" +
  "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

suite.test("an image of a message is shown with its turn", async ({ url, evaluate }, open) => {
  const user_message = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: DOT } },
  ];
  const test_batch = { id: "s", interactions: [{ id: "t", user_message }] };
  const id = await evaluate({ test_batch, attempts: 1 });
  await using tab = await open(`${url}/ui/runs/${id}?turn=0/1/0`);
  const image = tab.page.getByRole("img", { name: "Image of the question" });
  await image.waitFor();
  const width = () => image.evaluate((one) => (one as HTMLImageElement).naturalWidth);
  await becomes(width, 1);
});
