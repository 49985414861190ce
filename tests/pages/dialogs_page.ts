import { pageSuite } from "./browser.ts";
import { ask, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

suite.test("Escape asks before settings are lost that were not saved", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.getByRole("button", { name: "Settings" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("System prompt").fill("You are a poet.");
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Discard the changes" }).click();
  await dialog.waitFor({ state: "detached" });
});

suite.test(
  "a test that was saved as a file is closed without a question",
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await ask(page, "What is a lamp?");
    await page.getByRole("button", { name: "Save as test" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reference reply").fill("It gives light.");
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    await dialog.getByRole("button", { name: "Save as file" }).click();
    await dialog.getByText("Run it with:").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  },
);
