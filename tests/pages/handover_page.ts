import { assertEquals } from "@std/assert";
import { startServiceProcess } from "../fakes/service_process.ts";
import { pageSuite } from "./browser.ts";
import { ask, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(async () => {
  const [agent, evaluation] = await Promise.all([
    startScriptedAgent(),
    startServiceProcess("eval"),
  ]);
  return {
    chat: agent.url,
    hub: agent.hub,
    dashboard: evaluation.url,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await evaluation[Symbol.asyncDispose]();
    },
  };
});

suite.test(
  "a conversation of the chat becomes a scenario of a dataset in the dashboard",
  async ({ chat, hub, dashboard }, open) => {
    const message = 'Is 50% + "half" the same? 好 #1 & <b>more</b>';
    hub.answers.set(message, "Yes:\n\n- 50% = ½");
    await using tab = await open(chat);
    const { page } = tab;
    await ask(page, message);
    await page.getByRole("button", { name: "Save as test" }).click();
    await page.getByLabel("Scenario id").fill("halves");
    await page.getByLabel("Dashboard of assay-eval").fill("no address");
    await page.getByText("Enter an address such as").waitFor();
    await page.getByLabel("Dashboard of assay-eval").fill(dashboard);
    const opening = page.waitForEvent("popup");
    await page.getByRole("link", { name: "Add to a dataset" }).click();

    const other = await opening;
    await other.getByRole("heading", { name: "Add a scenario" }).waitFor();
    await other.getByLabel("Name", { exact: true }).fill("from-the-chat");
    await other.getByRole("button", { name: "Save" }).click();
    await other.waitForURL(/\/ui\/dataset\/from-the-chat/);
    const { test_batch: [scenario] } = await (await fetch(`${dashboard}/datasets/from-the-chat`))
      .json();
    assertEquals(scenario.id, "halves");
    assertEquals(scenario.interactions[0].user_message, message);
    assertEquals(scenario.interactions[0].reference_reply, "Yes:\n\n- 50% = ½");
  },
);
