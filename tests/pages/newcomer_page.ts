// deno-lint-ignore-file no-console -- the walk's counts are printed
import { assertEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import { freePort } from "../fakes/free_port.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { becomes, pageSuite } from "./browser.ts";

const suite = pageSuite(async () => {
  // Each knows the other's port, as with `deno task dev`; without a provider the demo answers.
  const EVAL_PORT = String(freePort());
  const agent = await startServiceProcess("agent", { environment: { EVAL_PORT } });
  const environment = { EVAL_PORT, AGENT_PORT: new URL(agent.url).port };
  const evaluation = await startServiceProcess("eval", { environment });
  return {
    chat: agent.url,
    dashboard: evaluation.url,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await evaluation[Symbol.asyncDispose]();
    },
  };
});

/** Counts what a person does on the way to each goal. */
function createWalk() {
  const counts: Record<string, { clicks: number; fields: number }> = {};
  let now = { clicks: 0, fields: 0 };
  return {
    counts,
    async click(target: Locator): Promise<void> {
      now.clicks++;
      await target.click();
    },
    async type(target: Locator, text: string): Promise<void> {
      now.fields++;
      await target.fill(text);
    },
    reached(goal: string): void {
      counts[goal] = now;
      console.log(`${goal}: ${now.clicks} clicks, ${now.fields} fields`);
      now = { clicks: 0, fields: 0 };
    },
  };
}

suite.test(
  "a newcomer comes to an answer, a test, a run, a verdict, a grade in a few clicks",
  async ({ chat, dashboard }, open) => {
    const { click, type, reached, counts } = createWalk();
    await using tab = await open(chat);
    const { page } = tab;
    await click(page.locator(".welcome-examples button").first());
    await click(page.getByRole("button", { name: "Send", exact: true }));
    await page.locator(".answer-foot").waitFor();
    reached("first answer");

    await click(page.getByRole("button", { name: "Save as test" }));
    const opening = page.waitForEvent("popup");
    await click(page.getByRole("link", { name: "Add to a dataset" }));
    const other = await opening;
    await type(other.getByLabel("Name", { exact: true }), "first");
    await click(other.getByRole("button", { name: "Save" }));
    await other.waitForURL(/\/ui\/dataset\/first/);
    reached("saved test");

    await click(other.getByRole("main").getByRole("link", { name: "New run" }));
    await click(other.getByRole("combobox", { name: "Model", exact: true }));
    const models = other.getByRole("listbox", { name: "Models" });
    await click(models.getByRole("option", { name: "demo/assistant" })); // as in the chat
    await click(other.getByRole("button", { name: "Start the run" }));
    await other.getByRole("region", { name: "Result" }).getByText("1 of 1 scenario passes")
      .waitFor();
    reached("run");

    await using fresh = await open(`${dashboard}/ui/no/such/view`);
    const view = fresh.page;
    await view.route(
      /\/runs\?/,
      (route) => route.fulfill({ json: { runs: [], next_cursor: null } }),
    ); // as on the first day
    await view.goto(dashboard);
    await click(view.getByRole("button", { name: "Try an example" }));
    await becomes(
      () => view.locator(".verdict .sentence").innerText(),
      "demo-fine-tuned is better than demo/assistant on 8 scenarios.",
    );
    await view.locator(".reply-grid tbody tr").first().waitFor();
    reached("verdict between two models, with the replies side by side");

    await view.unroute(/\/runs\?/);
    await click(view.getByRole("checkbox", { name: "prefer this reply" }).first());
    await view.getByText("The grade is saved.").waitFor();
    reached("grade");
    await view.getByRole("columnheader").getByRole("link", { name: "demo-fine-tuned" }).click();
    await view.getByRole("heading", { name: "example · demo-fine-tuned" }).waitFor();

    const clicks = Object.values(counts).map((count) => count.clicks);
    assertEquals(clicks, [2, 3, 4, 1, 1]);
    assertEquals(Object.values(counts).map(({ fields }) => fields), [0, 1, 0, 0, 0]);
  },
);
