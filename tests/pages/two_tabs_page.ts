import { assertEquals, assertStringIncludes } from "@std/assert";
import { pageSuite } from "./browser.ts";
import { ask, chooseModel, messageBox, say, startScriptedAgent, untilStored } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

const ARRIVING = "This answer is arriving in another tab.";

suite.test("an answer that another tab receives is not called cut off", async (
  { url, hub },
  open,
) => {
  await using tab = await open(url);
  await say(tab.page, "hold the line");
  await untilStored(tab.page, "The beginning.");
  const second = await tab.page.context().newPage();
  await second.goto(tab.page.url());
  await second.getByText("The beginning.").waitFor();
  await second.getByText(ARRIVING).waitFor();
  assertEquals(await second.getByText("was cut off").count(), 0);
  assertEquals(await messageBox(second).isEnabled(), true);
  assertEquals(await second.getByRole("button", { name: "Ask again" }).isEnabled(), false);
  hub.release();
  await second.getByText("was asked: hold the line").waitFor();
  await second.getByText(ARRIVING).waitFor({ state: "detached" });
  assertEquals(await second.getByText("was cut off").count(), 0);
});

suite.test(
  "a message waits for the answer that another tab receives",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    await say(tab.page, "hold it");
    await untilStored(tab.page, "The beginning.");
    const second = await tab.page.context().newPage();
    await second.goto(tab.page.url());
    await second.getByText(ARRIVING).waitFor();
    await say(second, "go on");
    const send = second.getByRole("button", { name: "Send", exact: true });
    assertEquals(await send.isEnabled(), false);
    const status = second.locator(".composer").getByRole("status");
    assertEquals(await status.textContent(), "Another tab receives an answer");
    assertEquals(await messageBox(second).inputValue(), "go on");
    hub.release();
    await second.getByText(ARRIVING).waitFor({ state: "detached" });
    await send.click();
    await second.getByText("was asked: go on").waitFor();
    const [, reply] = hub.requests.at(-1)!.body.messages.slice(-3);
    assertStringIncludes(reply.content, "was asked: hold it");
  },
);

suite.test("a tab lists and shows what another tab has done", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const second = await page.context().newPage();
  await second.goto(url);
  await second.getByText("No conversations yet.").waitFor();
  await ask(page, "one");
  const listed = second.getByRole("link", { name: /^one/ });
  await listed.click();
  await second.getByText("was asked: one").waitFor();
  await ask(page, "and two");
  await second.getByText("was asked: and two").waitFor();
  await page.getByRole("button", { name: "Actions for one" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await listed.waitFor({ state: "detached" });
});

suite.test("a conversation that one tab deletes does not come back from another", async (
  { url },
  open,
) => {
  await using tab = await open(url);
  await say(tab.page, "hold this");
  await untilStored(tab.page, "The beginning.");
  await messageBox(tab.page).fill("another one");
  const isStopped = tab.page.waitForEvent("requestfailed");
  const second = await tab.page.context().newPage();
  await second.goto(url);
  await second.getByRole("button", { name: "Actions for hold this" }).click();
  await second.getByRole("menuitem", { name: "Delete" }).click();
  await second.getByRole("button", { name: "Delete" }).click();
  await tab.page.getByText("not in this browser").waitFor();
  await isStopped;
  await messageBox(tab.page).press("Enter"); // what was typed is still there
  await second.getByRole("link", { name: /^another one/ }).waitFor();
  assertEquals(await second.getByRole("link", { name: /^hold this/ }).count(), 0);
});

suite.test(
  "the name and the model that one tab chooses hold for the next message of another",
  async (
    { url, hub },
    open,
  ) => {
    await using tab = await open(url);
    await ask(tab.page, "first name");
    const second = await tab.page.context().newPage();
    await second.goto(tab.page.url());
    await second.getByText("was asked: first name").waitFor();
    await tab.page.getByRole("button", { name: "Actions for first name" }).click();
    await tab.page.getByRole("menuitem", { name: "Rename" }).click();
    await tab.page.getByLabel("Title").fill("Second name");
    await tab.page.getByRole("button", { name: "Rename", exact: true }).click();
    await chooseModel(tab.page, "other/typed");
    await second.getByRole("button", { name: "Model: other/typed" }).waitFor();
    await ask(second, "go on");
    assertEquals(hub.requests.at(-1)!.body.model, "other/typed");
    await tab.page.getByText("was asked: go on").waitFor();
    await tab.page.getByRole("link", { name: /^Second name/ }).waitFor();
  },
);

suite.test("an answer is cut off once the tab that receives it is closed", async (
  { url },
  open,
) => {
  await using tab = await open(url);
  const first = await tab.page.context().newPage();
  await first.goto(url);
  await say(first, "hold on, please");
  await untilStored(first, "The beginning.");
  await tab.page.goto(first.url());
  await tab.page.getByText(ARRIVING).waitFor();
  await first.close();
  await tab.page.getByText("This answer was cut off").waitFor();
});

suite.test("a conversation is shown where the browser refuses locks", async ({ url }, open) => {
  await using tab = await open(url);
  await say(tab.page, "Hello!");
  await untilStored(tab.page, "was asked: Hello!");
  const second = await tab.page.context().newPage();
  const errors: unknown[] = [];
  second.on("pageerror", (error) => errors.push(error));
  await second.addInitScript(() => {
    LockManager.prototype.query = () => Promise.reject(new DOMException("no", "SecurityError"));
    LockManager.prototype.request = () => Promise.reject(new DOMException("no", "SecurityError"));
  });
  await second.goto(tab.page.url());
  await second.getByText("was asked: Hello!").waitFor();
  await say(second, "And now?");
  await second.getByText("was asked: And now?").waitFor();
  assertEquals(errors, []);
});
