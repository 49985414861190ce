import { assertEquals } from "@std/assert";
import { answerOf, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { ask, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() =>
  startScriptedAgent({ HOST: "0.0.0.0", API_KEYS: "ada:the-right-key" })
);

/** The address of the service by a name, over plain HTTP: browsers allow such a page less. */
const byName = (url: string) => `http://assay.test:${new URL(url).port}/`;
const byNumber = (url: string) => `http://127.0.0.1:${new URL(url).port}/`;

suite.test(
  "the page asks for the key once, keeps it for the tab, and sends it as a header",
  async ({ url }, open) => {
    await using tab = await open(byNumber(url));
    const { page } = tab;
    tab.expect(/401/);
    const dialog = page.getByRole("dialog", { name: "This service needs a key" });
    await dialog.waitFor();
    await checkAccessibility(page);
    for (let times = 0; times < 3; times++) {
      await page.keyboard.press("Escape"); // it must be answered
      await dialog.waitFor();
    }
    await untilFocused(page.getByLabel("API key"));
    await page.getByLabel("API key").fill("a wrong key");
    await page.keyboard.press("Enter");
    await page.getByText("The service did not accept this key.").waitFor();
    await checkAccessibility(page);
    await page.getByLabel("API key").fill("the-right-key");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByText("support-v3").waitFor();
    await ask(page, "hello");
    await page.reload();
    await ask(page, "hello again");
    assertEquals(await dialog.count(), 0);
    assertEquals(await page.context().cookies(), []);
    assertEquals(
      await page.evaluate(() => JSON.stringify(localStorage).includes("right-key")),
      false,
    );

    const second = await page.context().newPage();
    await second.goto(byNumber(url));
    await second.getByRole("dialog", { name: "This service needs a key" }).waitFor();
  },
);

suite.test(
  "the page asks once, even if it learns late that another request needed the key",
  async ({ url }, open) => {
    await using tab = await open("about:blank");
    const { page } = tab;
    tab.expect(/401/);
    const given = Promise.withResolvers<void>();
    await page.route("**/v1/models", async (route) => {
      const answer = await answerOf(route);
      await given.promise;
      await route.fulfill(answer);
    }, { times: 1 });
    await page.goto(byNumber(url));
    await page.getByLabel("API key").fill("the-right-key");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "This service needs a key" });
    await dialog.waitFor({ state: "detached" });
    given.resolve();
    await page.getByText("support-v3").waitFor();
    assertEquals(await dialog.count(), 0);
  },
);

suite.test(
  "the page works under a name that is listed nowhere, also without HTTPS",
  async ({ url }, open) => {
    await using tab = await open(byName(url), { permissions: [] });
    const { page } = tab;
    tab.expect(/401|Cross-Origin-Opener-Policy/);
    await page.getByLabel("API key").fill("the-right-key");
    await page.keyboard.press("Enter");
    const answer = await ask(page, "hello");
    assertEquals(await page.evaluate(() => isSecureContext), false);
    await answer.getByText(/was asked: hello/).waitFor();
    await answer.getByRole("button", { name: "Copy answer" }).click();
    await answer.getByRole("button", { name: "Copied" }).waitFor();
    await page.reload();
    await page.getByText(/was asked: hello/).waitFor();
  },
);

suite.test(
  "a key that no header can carry is refused at its field, and another one is taken",
  async ({ url }, open) => {
    await using tab = await open(byNumber(url));
    const { page } = tab;
    tab.expect(/401/);
    await page.getByLabel("API key").fill("the-right\u200b-key");
    await page.getByText("It has a character that no key has").waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("API key").fill("the-right-key");
    await page.keyboard.press("Enter");
    await page.getByText("support-v3").waitFor();
  },
);

suite.test(
  "without HTTPS a text of a dialog is copied too, and the button keeps the focus",
  async ({ url }, open) => {
    await using tab = await open(byName(url), { permissions: [] });
    const { page } = tab;
    tab.expect(/401|Cross-Origin-Opener-Policy/);
    await page.getByLabel("API key").fill("the-right-key");
    await page.keyboard.press("Enter");
    await ask(page, "hello");
    await page.evaluate(() =>
      document.addEventListener("copy", () => {
        const { value } = document.activeElement as HTMLTextAreaElement;
        document.body.dataset.copied = value;
      })
    );
    await page.getByRole("button", { name: "Save as test" }).click();
    await page.getByRole("button", { name: "Save as file" }).click();
    const copy = page.getByRole("button", { name: "Copy command" });
    await copy.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Copied" }).waitFor();
    assertEquals(
      (await page.evaluate(() => document.body.dataset.copied))?.startsWith("assay-eval run"),
      true,
    );
    await untilFocused(page.getByRole("dialog").getByRole("button", { name: "Copied" }));
  },
);

suite.test("a link that is opened in a tab of its own with Ctrl keeps the key", async (
  { url },
  open,
) => {
  await using tab = await open(byNumber(url));
  const { page } = tab;
  tab.expect(/401/);
  await page.getByLabel("API key").fill("the-right-key");
  await page.keyboard.press("Enter");
  await page.getByText("support-v3").waitFor();
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "API reference" }).click({ modifiers: ["ControlOrMeta"] });
  const second = await opened;
  await second.getByLabel("Search the routes").waitFor();
  assertEquals(await second.evaluate(() => sessionStorage.getItem("assay-key")), "the-right-key");
});
