import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { ask, chooseModel, lastAnswers, messageBox, startScriptedAgent } from "./chat.ts";
import { SUPPORT } from "./scripted_hub.ts";

const suite = pageSuite(() => startScriptedAgent());

suite.test(
  "before the first message the page says what it is, for every reader",
  async ({ url }, open) => {
    await using tab = await open(url);
    await tab.page.getByRole("heading", { name: "Ask the agent" }).waitFor();
    await tab.page.getByText(SUPPORT.name).waitFor();
    await checkAccessibility(tab.page);
  },
);

suite.test("an example is put into the message box, not sent", async ({ url }, open) => {
  await using tab = await open(url);
  await tab.page.getByRole("button", { name: "What is 17% of 240?" }).click();
  await becomes(() => messageBox(tab.page).inputValue(), "What is 17% of 240?");
  assertEquals(await tab.page.locator(".turn").count(), 0);
});

suite.test(
  "models are found by name and id, any id can be typed, and the last is remembered",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await page.getByRole("button", { name: /^Model:/ }).click();
    await page.getByRole("option", { name: SUPPORT.name }).waitFor();
    await becomes(() => page.getByRole("option").count(), 51);
    const search = page.getByRole("combobox");
    await search.fill("model-4");
    await becomes(() => page.getByRole("option").count(), 10);
    await checkAccessibility(page);
    await search.fill("nonsense");
    await page.getByText("No such model. An id is a UUID, or provider/model.").waitFor();
    await search.fill("other/free-entry");
    await page.getByRole("option", { name: "Use other/free-entry" }).click();
    await ask(page, "Hello");
    assertEquals(hub.requests.at(-1)?.body.model, "other/free-entry");

    await chooseModel(page, "support");
    await ask(page, "Hello again");
    assertEquals(hub.requests.at(-1)?.body.model, SUPPORT.id);
    await page.goto(url);
    await page.getByRole("button", { name: `Model: ${SUPPORT.name}` }).waitFor();
  },
);

suite.test("the list of models is used by keyboard alone", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const button = page.getByRole("button", { name: /^Model:/ });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("option").first().waitFor();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "Enter"]) await page.keyboard.press(key);
  await page.getByRole("button", { name: "Model: acme/model-01" }).waitFor();
  await page.keyboard.press("Enter"); // the focus is back on the button
  await page.getByRole("combobox").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("combobox").waitFor({ state: "detached" });
  await untilFocused(button);
});

suite.test(
  "an earlier message is edited as a new branch, and the old one is kept",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await ask(page, "first question");
    await ask(page, "second question");
    await page.getByRole("button", { name: "Edit message" }).first().click();
    const editor = page.getByRole("textbox", { name: "Edit message" });
    await becomes(() => editor.inputValue(), "first question");
    await editor.fill("first question, better");
    await checkAccessibility(page);
    await page.locator(".question-editor").getByRole("button", { name: "Send" }).click();
    await page.getByText(/was asked: first question, better/).waitFor();
    await becomes(() => page.locator(".turn").count(), 1);
    assertEquals(
      hub.requests.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === "user")
        .length,
      1,
    );
    await page.getByText("2 / 2").waitFor();
    await page.getByRole("button", { name: "Previous branch" }).click();
    await page.getByText(/was asked: second question/).waitFor();
    await page.reload();
    await page.getByText(/was asked: second question/).waitFor();
    await page.getByText("1 / 2").waitFor();
  },
);

suite.test(
  "settings are sent with every message, and wrong ones are refused at the field",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByText(/Tools of the agent \(\d+\)/).click();
    await checkAccessibility(page);
    await page.getByLabel("System prompt").fill("Answer like a pirate.");
    await page.getByLabel("Temperature").fill("hot");
    await page.getByLabel("Maximum tokens per reply").fill("1.5");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Enter a number from 0 to 2, or nothing.").waitFor();
    await page.getByText("Enter a whole number above 0, or nothing.").waitFor();
    await page.getByLabel("Temperature").fill("0.3");
    await page.getByLabel("Maximum tokens per reply").fill("77");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await ask(page, "Hello");
    const sent = hub.requests.at(-1)?.body;
    assertEquals(sent.messages[0], { role: "system", content: "Answer like a pirate." });
    assertEquals([sent.temperature, sent.max_tokens ?? sent.max_completion_tokens], [0.3, 77]);
    assert(sent.tools.length > 0);

    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Use tools").uncheck();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const answer = await ask(page, "Alone?");
    assertEquals(hub.requests.at(-1)?.body.tools, undefined);
    assertStringIncludes(await answer.getByRole("list").innerText(), "5 tokens in, 7 out");
    await page.reload();
    await page.getByRole("button", { name: "Settings" }).click();
    await becomes(() => page.getByLabel("Temperature").inputValue(), "0.3");
  },
);

suite.test(
  "two models answer side by side, each with its own history",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await chooseModel(page, "model-01");
    await page.getByRole("button", { name: "Answer with a second model side by side" }).click();
    await chooseModel(page, "model-02", /^Second model:/);
    await ask(page, "who are you?");
    await becomes(() => lastAnswers(page).count(), 2);
    await checkAccessibility(page);
    await ask(page, "and now?");
    const bodies = hub.requests.slice(-2).map(({ body }) => body)
      .toSorted((a, b) => a.model < b.model ? -1 : 1);
    for (const [index, { model, messages }] of bodies.entries()) {
      assertEquals(model, `acme/model-0${index + 1}`);
      assertEquals(messages.at(-2).content, `${model} was asked: who are you?`);
    }
    await lastAnswers(page).nth(1).getByRole("button", { name: "Ask again" }).click();
    await page.getByText("2 / 2").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    assertEquals(hub.requests.at(-1)?.body.model, "acme/model-02");
    await becomes(() => lastAnswers(page).count(), 2);
    await page.getByRole("button", { name: "Answer with the first model only" }).click();
    await ask(page, "alone");
    await becomes(() => lastAnswers(page).count(), 1);
  },
);
