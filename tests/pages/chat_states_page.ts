import { assertEquals } from "@std/assert";
import { becomes, checkAccessibility, findBrokenWords, pageSuite } from "./browser.ts";
import { ask, chooseModel, importFile, lastAnswers, say, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

suite.test(
  "without a list of models any id can be typed, and the list can be asked for again",
  async ({ url, hub }, open) => {
    await using tab = await open(`${url}/ui/no/such/view`);
    const { page } = tab;
    tab.expect(/ERR_FAILED/);
    await page.route("**/v1/models", (route) => route.abort());
    await page.goto(url);
    await page.getByText(/^Cannot reach the service/).waitFor();
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Model: Choose a model" }).click();
    await page.getByText("The list cannot be read. Type an id").waitFor();
    await page.getByRole("combobox").fill("two words");
    await page.getByText("An id has no blanks.", { exact: true }).waitFor();
    await checkAccessibility(page);
    await page.keyboard.press("Escape");
    await chooseModel(page, "bare-id"); // the service knows whether the hub takes it
    await page.getByRole("button", { name: "Model: bare-id" }).waitFor();
    await chooseModel(page, "other/typed");
    await page.getByRole("button", { name: "Model: other/typed" }).waitFor();
    await page.unroute("**/v1/models");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText(/^Cannot reach the service/).waitFor({ state: "detached" });
    await ask(page, "Hello");
    assertEquals(hub.requests.at(-1)?.body.model, "other/typed");
  },
);

suite.test("while the list of models is on its way the page says so", async ({ url }, open) => {
  await using tab = await open(`${url}/ui/no/such/view`);
  const { page } = tab;
  const held = Promise.withResolvers<void>();
  await page.route("**/v1/models", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(url);
  await page.getByRole("button", { name: "Model: Choose a model" }).click();
  await page.getByText("Loading the models…").waitFor();
  await checkAccessibility(page);
  held.resolve();
  await page.getByRole("option").nth(50).waitFor();
});

suite.test(
  "a browser that keeps nothing says so, and the conversation goes on",
  async ({ url }, open) => {
    await using tab = await open(`${url}/ui/no/such/view`);
    const { page } = tab;
    await page.addInitScript(() => {
      IDBFactory.prototype.open = () => { // as some private windows do
        throw new DOMException("not allowed", "SecurityError");
      };
    });
    await page.goto(url);
    await page.getByText("This browser does not keep conversations").waitFor();
    await checkAccessibility(page);
    await ask(page, "one");
    const answer = await ask(page, "two");
    await answer.getByText(/was asked: two/).waitFor();
    await becomes(() => page.getByRole("navigation").getByRole("listitem").count(), 1);
  },
);

suite.test("menus and the list on a narrow screen are for every reader", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.getByText("No conversations yet.").waitFor();
  await ask(page, "hello");
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem").first().waitFor();
  await checkAccessibility(page);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 360, height: 800 });
  const tops = await page.locator(".topbar > .button, .topbar .icon-only").evaluateAll((all) =>
    all.filter((one) => !one.closest(".chat-models") && one.checkVisibility())
      .map((one) => one.getBoundingClientRect().top)
  );
  assertEquals(new Set(tops).size, 1, "the bar has one line above the models");
  await page.getByRole("button", { name: "Conversations" }).click();
  await page.getByRole("button", { name: "Actions for hello" }).click();
  await checkAccessibility(page);
});

suite.test("a conversation that is deleted is not answered further", async ({ url, hub }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await say(page, "hold for nobody");
  await lastAnswers(page).getByText("The beginning.").waitFor();
  await page.getByRole("button", { name: "Actions for hold for nobody" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await hub.aborted();
  await page.getByText("No conversations yet.").waitFor();
});

suite.test(
  "an imported answer that failed says so, and can be asked again",
  async (agent, open) => {
    await using tab = await open(agent.url);
    const { page } = tab;
    const failed = { model: "acme/model-01", status: "failed", parts: [] };
    const turn = { id: "t", parent: null, text: "Hello", answers: [failed] };
    const conversation = { models: ["acme/model-01"], turns: { t: turn }, shown: { "": "t" } };
    const file = { format: "assay-conversations", version: 1, conversations: [conversation] };
    await importFile(page, JSON.stringify(file));
    await page.getByRole("link", { name: /Hello/ }).click();
    await page.getByText("This answer failed.").waitFor();
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByText("acme/model-01 was asked: Hello").waitFor();
  },
);

suite.test("a list that begins with 0 does so on the page", async ({ url, hub }, open) => {
  hub.answers.set("list them", "0. zero\n1. one");
  await using tab = await open(url);
  const answer = await ask(tab.page, "list them");
  assertEquals(await answer.locator("ol").getAttribute("start"), "0");
});

suite.test("an answer without text says so", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const empty = { model: "acme/model-01", status: "done", parts: [] };
  const turn = { id: "t", parent: null, text: "Draw it", answers: [empty] };
  const conversation = { models: ["acme/model-01"], turns: { t: turn }, shown: { "": "t" } };
  const file = { format: "assay-conversations", version: 1, conversations: [conversation] };
  await importFile(page, JSON.stringify(file));
  await page.getByRole("link", { name: /Draw it/ }).click();
  await page.getByText("This answer has no text.").waitFor();
});

suite.test("definitions that no link needs are shown as they were written", async (agent, open) => {
  const written = "[Name]: Ada\n[Site]: https://example.com/ada\n\nSee [1] and [Two].\n\n" +
    "[1]: https://example.com/one\n[two]: https://example.com/two";
  agent.hub.answers.set("define it", written);
  await using tab = await open(agent.url);
  const answer = await ask(tab.page, "define it");
  const prose = answer.locator(".prose");
  const shown = ["[Name]: Ada", "[Site]: https://example.com/ada", "See 1 and Two."];
  assertEquals(await prose.locator("p").allInnerTexts(), shown);
  const links = await prose.locator("a").evaluateAll((all) =>
    all.map((a) => a.getAttribute("href"))
  );
  assertEquals(links, ["https://example.com/one", "https://example.com/two"]);
});

suite.test("a line break in a table is one, and other tags stay text", async (agent, open) => {
  agent.hub.answers.set("show a table", "| a |\n|---|\n| one<br>two<BR/>three <b>four</b> |");
  await using tab = await open(agent.url);
  const answer = await ask(tab.page, "show a table");
  assertEquals(await answer.locator("td").innerText(), "one\ntwo\nthree <b>four</b>");
});

suite.test(
  "formulas are shown as such, one that cannot be read as its source, and prices are none",
  async (agent, open) => {
    const formulas = [
      String.raw`With \(x_1 \cdot y\) and \(\undefined_{1}\):`,
      "\\[\n\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}\n\\]",
      "$$\nf*g*h\n= 1\n$$",
      String.raw`It costs $5 or $10, and \[this\] is no formula, nor is \(this`,
    ];
    agent.hub.answers.set("show formulas", formulas.join("\n\n"));
    await using tab = await open(agent.url);
    const answer = await ask(tab.page, "show formulas");
    await becomes(() => answer.locator("math").count(), 3);
    assertEquals(await answer.locator("p math msub").count(), 1);
    assertEquals(await answer.locator("p code").allInnerTexts(), [
      String.raw`\(\undefined_{1}\)`,
    ]);
    assertEquals(await answer.locator(".formula mtable").count(), 1);
    assertEquals(
      await answer.locator("p").last().innerText(),
      "It costs $5 or $10, and [this] is no formula, nor is (this",
    );
    await checkAccessibility(tab.page, { isQuick: true });
  },
);

suite.test("a telephone breaks no word of a table in an answer", async (agent, open) => {
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const table = [
    row(["Plan", "Seats", "Price", "Storage", "Support", "Included"]),
    row(["---", ":-:", "--:", "---", "---", "---"]),
    row(["Business", "unlimited", "1,249.50", "unlimited", "telephone", "everything"]),
  ].join("\n");
  agent.hub.answers.set("compare the plans", table);
  await using tab = await open(agent.url, { viewport: { width: 360, height: 740 } });
  const answer = await ask(tab.page, "compare the plans");
  assertEquals(await findBrokenWords(answer.locator("table")), []);
  const long = [`https://example.com/${"a".repeat(200)}`, "word ".repeat(40)];
  agent.hub.answers.set(
    "list the links",
    [row(["Link", "About"]), "|---|---|", row(long)].join("\n"),
  );
  const [link, about] = await (await ask(tab.page, "list the links")).locator("td").all();
  for (const cell of [link!, about!]) { // neither takes the room of the other
    const { width } = (await cell.boundingBox())!;
    assertEquals(width > 120 && width < 240, true, `${width}`);
  }
  await checkAccessibility(tab.page, { isQuick: true });
});

suite.test("chunks of a model alone may say that there is no error", async ({ url }, open) => {
  const chunk = (delta: unknown, finish_reason: string | null) =>
    `data: ${JSON.stringify({ error: null, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const body = `${chunk({ content: "All is well." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
  await using tab = await open(url);
  const { page } = tab;
  await page.route(
    "**/v1/chat/completions",
    (route) => route.fulfill({ contentType: "text/event-stream", body }),
  );
  const answer = await ask(page, "Hello");
  assertEquals(await answer.locator(".prose").innerText(), "All is well.");
});

suite.test("a wait that the service asks for counts down before the message is sent again", async (
  agent,
  open,
) => {
  await using tab = await open(agent.url);
  tab.expect(/429/);
  const { page } = tab;
  await page.route("**/v1/chat/completions", (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "2" },
      json: { error: { message: "too many requests", code: "rate_limited" } },
    }), { times: 1 });
  await say(page, "hello");
  await page.getByRole("button", { name: /^Send again in [12] s$/ }).waitFor();
  await page.getByRole("button", { name: "Send again", exact: true }).click();
  await lastAnswers(page).locator(".facts").waitFor();
});
