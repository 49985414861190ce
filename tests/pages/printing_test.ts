import { assert, assertEquals } from "@std/assert";
import { pageSuite } from "./browser.ts";
import { ask, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

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
