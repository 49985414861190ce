import { assertEquals } from "@std/assert";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { ask, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent({ API_KEYS: "ada:the-right-key" }));

suite.test(
  "the page asks for the key once, keeps it for the tab, and sends it as a header",
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    tab.expect(/401/);
    const dialog = page.getByRole("dialog", { name: "This service needs a key" });
    await dialog.waitFor();
    await checkAccessibility(page);
    await page.keyboard.press("Escape"); // it must be answered
    assertEquals(await dialog.isVisible(), true);
    await page.getByLabel("API key").fill("a wrong key");
    await page.keyboard.press("Enter");
    await page.getByText("The service did not accept this key.").waitFor();
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
    await second.goto(url);
    await second.getByRole("dialog", { name: "This service needs a key" }).waitFor();
  },
);
