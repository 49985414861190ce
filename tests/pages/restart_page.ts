import { assertEquals } from "@std/assert";
import { startServiceProcess } from "../fakes/service_process.ts";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { ask, lastAnswers, say } from "./chat.ts";
import { untilCompleted } from "./eval_fixture.ts";
import { startSupportBot, SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const bot = await startSupportBot({ delayMs: 100 });
  const cwd = await Deno.makeTempDir();
  const start = (port: string) =>
    startServiceProcess("eval", {
      cwd,
      environment: { EVAL_PORT: port, EVAL_DATA: "eval.db", EVAL_CONCURRENCY: "2" },
    });
  let service = await start("0");
  return {
    url: service.url,
    endpoint: bot.baseUrl,
    /** As after a crash: the same port and the same database. */
    async restart(whileDown: () => Promise<void>) {
      service.kill("SIGKILL");
      await service.status;
      await whileDown();
      service = await start(new URL(service.url).port);
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await bot[Symbol.asyncDispose]();
      await Deno.remove(cwd, { recursive: true });
    },
  };
});

suite.test(
  "a live run goes on in the same page after the service was killed and started again",
  async ({ url, endpoint, restart }, open) => {
    const answer = await fetch(`${url}/evaluate`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "respond-async" },
      body: JSON.stringify({
        test_batch: SUPPORT_BATCH,
        endpoint,
        model_id: "studio/support-v3",
        attempts: 10,
      }),
    });
    const { run_id } = await answer.json();
    await using tab = await open(`${url}/ui/runs/${run_id}`);
    const { page } = tab;
    tab.expect(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|503/);
    await page.locator(".turn-rows .name").nth(2).waitFor();
    await page.evaluate(() => document.body.setAttribute("data-same-page", ""));
    const done = () => page.evaluate(() => document.querySelector("progress")?.value ?? Infinity);
    const before = await done();
    await restart(async () => {
      await page.getByText("Connection lost; trying again…").waitFor();
      await checkAccessibility(page);
    });
    await page.waitForFunction(
      (before) => (document.querySelector("progress")?.value ?? Infinity) > before + 3,
      before,
      { timeout: 30_000 },
    );
    await untilCompleted(page);
    assertEquals(await page.locator("body[data-same-page]").count(), 1);
    const { progress } = await (await fetch(`${url}/runs/${run_id}?result=false`)).json();
    assertEquals(progress.done, progress.total);
  },
);

suite.test(
  "a list and a chat whose service has gone away say so, for every reader",
  async ({ url, restart }, open) => {
    const agent = await startServiceProcess("agent");
    await using list = await open(url);
    await using chat = await open(agent.url);
    for (const tab of [list, chat]) tab.expect(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE/);
    await list.page.locator("table.runs tbody tr").first().waitFor();
    await ask(chat.page, "before");
    await agent[Symbol.asyncDispose]();
    await say(chat.page, "Are you there?");
    await lastAnswers(chat.page).getByRole("alert").getByText(/Cannot reach the service/).waitFor();
    await checkAccessibility(chat.page);
    await restart(async () => {
      await list.page.getByText("Cannot reach the service.").waitFor({ timeout: 30_000 });
      await checkAccessibility(list.page);
    });
    await list.page.getByRole("button", { name: "Try again" }).click();
    await list.page.getByText("Cannot reach the service.").waitFor({ state: "detached" });
  },
);
