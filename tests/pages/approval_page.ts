import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { ask, lastAnswers, startScriptedAgent, untilStored } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

async function askBeforeTools(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Ask before tools run").check();
  await checkAccessibility(page);
  await page.getByRole("button", { name: "Save", exact: true }).click();
}

const approve = (page: Page) => page.getByRole("button", { name: "Approve" });
const refuse = (page: Page) => page.getByRole("button", { name: "Refuse" });

suite.test(
  "a tool call waits for its approval, also after a reload, and runs then",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await askBeforeTools(page);
    await ask(page, "calculate 17 * 23");
    await approve(page).waitFor();
    await lastAnswers(page).getByText("waits for you").waitFor();
    await lastAnswers(page).getByText('"expression": "17 * 23"').waitFor();
    await checkAccessibility(page);
    await untilStored(page, '"state":"waiting"');
    await page.reload();
    await approve(page).click();
    await lastAnswers(page).getByText(/was asked: calculate/).waitFor();
    await approve(page).waitFor({ state: "detached" });
    const sent = hub.requests.at(-1)!.body.messages;
    assertEquals(sent.at(-1).role, "tool");
    assertEquals(sent.at(-1).content, "391");
    await lastAnswers(page).locator("summary").click();
    await lastAnswers(page).getByText("391", { exact: true }).waitFor();
    await lastAnswers(page).getByText("2 model calls").waitFor();
    await lastAnswers(page).getByText("1 tool call").waitFor();

    // The next question is asked as ever.
    await ask(page, "Hello");
    const roles = hub.requests.at(-1)!.body.messages.map(({ role }: { role: string }) => role);
    assertEquals(roles, ["system", "user", "assistant", "user"]);
  },
);

suite.test("a refused call does not run, and the model hears of it", async ({ url, hub }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await askBeforeTools(page);
  await ask(page, "calculate 6 * 7");
  await refuse(page).click();
  await lastAnswers(page).getByText(/was asked: calculate/).waitFor();
  await lastAnswers(page).getByText("refused", { exact: true }).waitFor();
  const { content } = hub.requests.at(-1)!.body.messages.at(-1);
  assertEquals(content, "Error: the user refused this call, and it was not run");
});

suite.test(
  "a call that nobody decided is not run when the talk goes on",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await askBeforeTools(page);
    await ask(page, "calculate 1 + 1");
    await approve(page).waitFor();
    await ask(page, "Never mind");
    const first = page.locator(".turn").first();
    await first.getByText("not run", { exact: true }).waitFor();
    assertEquals(await first.getByRole("button", { name: "Approve" }).count(), 0);
    const said = hub.requests.at(-1)!.body.messages.at(-1).content;
    assertEquals(said.includes("Never mind"), true);
  },
);
