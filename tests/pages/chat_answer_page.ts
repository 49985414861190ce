import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import {
  ask,
  chooseModel,
  lastAnswers,
  messageBox,
  say,
  startScriptedAgent,
  untilStored,
} from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

const MARKDOWN = `# Title

A **bold** and *slanted* text with \`code\`, ~~gone~~ and [a link](https://example.com/a?b=1&c=2).

- first &amp; only
  1. inner

> quoted

| name | count |
| ---- | ----: |
| a    |    12 |

And another one:

| other |
| ----- |
| b     |

\`\`\`ts
const answer = 42;
\`\`\`

![a picture](https://example.com/p.png)`;

suite.test(
  "an answer is shown as markdown, with code to copy and nothing from elsewhere",
  async ({ url, hub }, open) => {
    hub.answers.set("markdown please", MARKDOWN);
    await using tab = await open(url);
    const { page } = tab;
    const answer = await ask(page, "markdown please");
    await answer.getByRole("heading", { name: "Title" }).waitFor();
    assertEquals(await answer.locator("strong").textContent(), "bold");
    assertEquals(await answer.locator("p code").textContent(), "code");
    assertEquals(
      await answer.locator(".prose > ul > li").textContent().then((text) => text?.slice(0, 12)),
      "first & only",
    );
    assertEquals(await answer.locator("td.number").textContent(), "12");
    const link = answer.getByRole("link", { name: "a link" });
    assertEquals(await link.getAttribute("href"), "https://example.com/a?b=1&c=2");
    assertEquals(await link.getAttribute("rel"), "noopener noreferrer");
    assertEquals(await answer.locator("img").count(), 0);
    await answer.getByRole("link", { name: "a picture" }).waitFor();
    await answer.locator("pre .code-keyword", { hasText: "const" }).waitFor();
    await answer.locator("pre .code-number", { hasText: "42" }).waitFor();
    await answer.getByRole("button", { name: "Copy code" }).click();
    await becomes(() => page.evaluate(() => navigator.clipboard.readText()), "const answer = 42;");
    await answer.getByRole("button", { name: "Copy answer" }).click();
    await becomes(() => page.evaluate(() => navigator.clipboard.readText()), MARKDOWN);
    await checkAccessibility(page);
  },
);

suite.test(
  "text is shown while it arrives, can be stopped, and asked for again",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await say(page, "hold this");
    await page.getByText("The beginning.").waitFor();
    assertEquals(await lastAnswers(page).getAttribute("aria-busy"), "true");
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("You stopped this answer.").waitFor();
    await hub.aborted();
    await page.getByText("The beginning.").waitFor();

    await lastAnswers(page).getByRole("button", { name: "Ask again" }).click();
    await page.getByText("2 / 2").waitFor();
    await untilFocused(page.locator("[aria-label=Conversation]")); // the button has gone
    await page.getByText("The beginning.").waitFor();
    hub.release();
    await page.getByText(/was asked: hold this/).waitFor();
    await page.getByRole("button", { name: "Previous branch" }).click();
    await page.getByText("You stopped this answer.").waitFor();
  },
);

suite.test("Escape in the message box stops the answer", async ({ url }, open) => {
  await using tab = await open(url);
  await say(tab.page, "hold again");
  await tab.page.getByText("The beginning.").waitFor();
  await messageBox(tab.page).press("Escape");
  await tab.page.getByText("You stopped this answer.").waitFor();
});

suite.test("reasoning is folded above the answer", async ({ url }, open) => {
  await using tab = await open(url);
  const answer = await ask(tab.page, "think about it");
  const folded = answer.getByText("Let me think about it.");
  assertEquals(await folded.isVisible(), false);
  await answer.getByText("Reasoning").click();
  await becomes(() => folded.isVisible(), true);
  assertEquals(await answer.locator("details strong").textContent(), "think");
  await checkAccessibility(tab.page);
});

suite.test("a tool whose answer was cut is shown as not finished", async ({ url }, open) => {
  const call = { type: "tool_call", id: "c1", name: "calculator", args: { expression: "6 * 7" } };
  const chunk = { choices: [{ index: 0, delta: { tool_events: [call] } }] };
  const body = `data: ${JSON.stringify(chunk)}\n\n`; // and then the connection is lost
  await using tab = await open(url);
  const { page } = tab;
  await page.route(
    "**/v1/chat/completions",
    (route) => route.fulfill({ contentType: "text/event-stream", body }),
  );
  await say(page, "What is 6 * 7?");
  await lastAnswers(page).getByRole("alert").waitFor();
  assertEquals(await lastAnswers(page).locator(".tool .badge").textContent(), "not finished");
  await page.reload();
  await lastAnswers(page).getByText("not finished").waitFor();
});

suite.test(
  "a tool call is a card with arguments, result and duration, or its error",
  async ({ url }, open) => {
    await using tab = await open(url);
    const answer = await ask(tab.page, "calculate 17 * 23");
    const card = answer.locator(".tool");
    assertMatch(await card.locator("summary").innerText(), /calculator\s+17 \* 23\s+\S+ m?s/);
    const result = card.getByText("391", { exact: true }); // a call of 91 ms reads "17 * 2391 ms"
    assertEquals(await result.isVisible(), false);
    await card.locator("summary").click();
    assertStringIncludes(await card.innerText(), '"expression": "17 * 23"');
    await becomes(() => result.isVisible(), true);

    const failed = await ask(tab.page, "calculate 1 +* 2");
    await failed.getByText("error", { exact: true }).waitFor();
    await failed.locator(".tool summary").click();
    await failed.getByText("Error", { exact: true }).waitFor();
    await checkAccessibility(tab.page);
  },
);

suite.test(
  "under an answer stand the model, the calls, the tokens and the times",
  async ({ url }, open) => {
    await using tab = await open(url);
    await chooseModel(tab.page, "model-07");
    const answer = await ask(tab.page, "calculate 2 + 2");
    const facts = await answer.getByRole("list", { name: "Facts about this answer" }).innerText();
    assertMatch(
      facts.replaceAll("\n", " "),
      /^acme\/model-07 2 model calls 1 tool call 10 tokens in, 14 out first token \S+ m?s total \S+ m?s$/,
    );
  },
);

suite.test(
  "the view follows the text only while the reader is at the end",
  async ({ url, hub }, open) => {
    const long = Array.from({ length: 120 }, (_, line) => `Line ${line}.`).join("\n\n");
    hub.answers.set("long one", long);
    hub.answers.set("hold long", long);
    await using tab = await open(url);
    const { page } = tab;
    await ask(page, "long one");
    const distance = () =>
      page.locator(".transcript").evaluate((element) =>
        element.scrollHeight - element.scrollTop - element.clientHeight
      );
    await page.waitForFunction(() => {
      const element = document.querySelector(".transcript")!;
      return element.scrollHeight - element.scrollTop - element.clientHeight < 4;
    });
    await say(page, "hold long");
    await page.getByText("The beginning.").last().waitFor();
    await page.locator(".transcript").evaluate((element) => element.scrollTo({ top: 200 }));
    await page.getByRole("button", { name: "To the end" }).waitFor();
    hub.release();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    assert(await distance() > 1000, "the reader was moved");
    await page.getByRole("button", { name: "To the end" }).click();
    await page.waitForFunction(() => {
      const element = document.querySelector(".transcript")!;
      return element.scrollHeight - element.scrollTop - element.clientHeight < 4;
    });
  },
);

suite.test("what was repaired in the history is said in words", async ({ url }, open) => {
  await using tab = await open(url);
  tab.expect(/502/);
  await say(tab.page, `fail ${crypto.randomUUID()}`);
  await tab.page.getByRole("alert").waitFor();
  const answer = await ask(tab.page, "and now?");
  await answer.getByText(
    "The conversation was repaired for the model: 1 message was joined with the one before.",
  ).waitFor();
});

suite.test(
  "a failure is shown where it happened, and the message can be sent again",
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    tab.expect(/502/);
    await say(page, `fail ${crypto.randomUUID()}`);
    const alert = lastAnswers(page).getByRole("alert");
    await alert.waitFor();
    assertStringIncludes(await alert.innerText(), "Try again.");
    await checkAccessibility(page);
    await alert.getByRole("button", { name: "Send again" }).click();
    await page.getByText(/was asked: fail/).waitFor();
  },
);

suite.test("an answer that breaks off keeps what has come", async ({ url }, open) => {
  await using tab = await open(url);
  await say(tab.page, "break off");
  await lastAnswers(tab.page).getByRole("alert").waitFor();
  await tab.page.getByText("The first half").waitFor();
});

suite.test("without the network nothing that was typed is lost", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  tab.expect(/ERR_INTERNET_DISCONNECTED/);
  await ask(page, "before");
  await page.context().setOffline(true);
  await page.getByText("You are offline. What you type is kept.").waitFor();
  await say(page, "while offline");
  const alert = lastAnswers(page).getByRole("alert");
  await alert.getByText(/Cannot reach the service/).waitFor();
  await checkAccessibility(page);
  await messageBox(page).fill("not sent yet");
  await page.context().setOffline(false);
  await alert.getByRole("button", { name: "Send again" }).click();
  await page.getByText(/was asked: while offline/).waitFor();
  await page.reload();
  await page.getByText(/was asked: while offline/).waitFor();
  await becomes(() => messageBox(page).inputValue(), "not sent yet");
});

suite.test(
  "a reload in the middle of an answer keeps what had arrived and says that it was cut",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await say(page, "hold for a reload");
    await page.getByText("The beginning.").waitFor();
    await untilStored(page, "The beginning.");
    await page.reload();
    await page.getByText("This answer was cut off: the page was closed").waitFor();
    await page.getByText("The beginning.").waitFor();
    hub.release();
  },
);

suite.test(
  "an answer that ends because the page is being left is cut off, not failed", // as in Firefox
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    tab.expect(/ERR_FAILED/);
    await page.route("**/v1/chat/completions", async (route) => {
      await page.evaluate(() => dispatchEvent(new Event("beforeunload")));
      await route.abort();
    });
    await say(page, "hello");
    await page.getByText("This answer was cut off: the page was closed").waitFor();
    assertEquals(await page.getByRole("alert").count(), 0);
  },
);

suite.test(
  "text of languages written from right to left is laid out so",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    hub.answers.set("مرحبا، كيف حالك؟", "بخير:\n\n- أولًا\n- ثانيًا");
    const answer = await ask(tab.page, "مرحبا، كيف حالك؟");
    const direction = (selector: string) =>
      tab.page.locator(selector).first().evaluate((element) => getComputedStyle(element).direction);
    for (
      const selector of [".question-text", ".answer p", ".answer ul", ".answer li", ".list-title"]
    ) {
      assertEquals(await direction(selector), "rtl", selector);
    }
    assertEquals(await answer.count(), 1);
  },
);

suite.test(
  "stopping an answer does not send what is in the message box",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await say(page, "hold it");
    await page.getByText("The beginning.").waitFor();
    await messageBox(page).fill("not finished yet");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("You stopped this answer.").waitFor();
    assertEquals(await messageBox(page).inputValue(), "not finished yet");
    assertEquals(await page.locator(".turn").count(), 1);
    hub.release();
  },
);

suite.test("Enter during an answer says that the message waits, and sends it at its end", async (
  { url, hub },
  open,
) => {
  hub.answers.set("and then?", "two");
  await using tab = await open(url);
  const { page } = tab;
  await say(page, "hold this one");
  await page.getByText("The beginning.").waitFor();
  await messageBox(page).fill("and then?");
  await page.keyboard.press("Enter");
  await page.getByText("Will be sent when the answer has ended.").waitFor();
  hub.release();
  await becomes(() => page.locator(".turn").count(), 2);
  await lastAnswers(page).getByText("two", { exact: true }).waitFor();
  assertEquals(await messageBox(page).inputValue(), "");
});

suite.test("the first Tab in the chat reaches the link past the conversations", async (
  { url },
  open,
) => {
  await using tab = await open(url);
  await messageBox(tab.page).waitFor();
  await tab.page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
  });
  await tab.page.keyboard.press("Tab");
  await untilFocused(tab.page.getByRole("link", { name: "Skip to content" }));
});
