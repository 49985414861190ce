import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Locator } from "playwright-core";
import { startServiceProcess } from "../fakes/service_process.ts";
import { completionBody, startProviderDouble } from "../fakes/provider_double.ts";
import { SHOP_REPLIES, SHOP_SCENARIOS } from "../fakes/shop.ts";
import { pageSuite } from "./browser.ts";

/** A service without a judge, and two models that answer as they were recorded. */
const suite = pageSuite(async () => {
  const model = await startProviderDouble(({ body }) => {
    const { content } = body.messages.at(-1);
    return Response.json(completionBody({ content: SHOP_REPLIES[body.model]![content]! }));
  });
  const service = await startServiceProcess("eval");
  const body = {
    test_name: "shop",
    test_batch: SHOP_SCENARIOS,
    endpoint: model.baseUrl,
    model_ids: ["careful", "hasty"],
    attempts: 2, // the worst replies are not the attempts at one turn
  };
  const response = await fetch(`${service.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { group_id, runs } = await response.json();
  const [careful, hasty] = runs.map(({ run_id }: { run_id: string }) => run_id);
  return {
    url: service.url,
    group: group_id as string,
    careful: careful as string,
    hasty: hasty as string,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
});

/** What a wrong reply of the hasty model says, and why it does not pass. */
const WRONG: [reply: RegExp, why: RegExp][] = [
  [/in our system/, /^check not met: names the case/],
  [/cannot be dimmed/, /^contradicts the reference/],
  [/cannot return it once/, /^contradicts the reference/],
  [/within 60 days/, /^wrong value: 60 days instead of 30 days$/],
  [/19\.90 euros/, /^wrong value: 19\.90 euros instead of 9\.90 euros$/],
  [/9 am to 8 pm/, /^wrong value: .*8 pm instead of .*6 pm$/],
];

/** Five replies are different wrong ones, each with its reason. */
async function checkWorst(replies: Locator): Promise<void> {
  await replies.nth(4).waitFor();
  const seen = new Set<number>();
  for (let index = 0; index < 5; index++) {
    const reply = replies.nth(index);
    const text = await reply.innerText();
    const known = WRONG.findIndex(([said]) => said.test(text));
    assert(known >= 0, `a right reply is among the worst: ${text}`);
    assertMatch(await reply.locator(".why").innerText(), WRONG[known]![1]);
    seen.add(known);
  }
  assertEquals(seen.size, 5);
}

suite.test(
  "the five worst replies of 40 conversations are wrong ones with their true reasons: page and HTML",
  async ({ url, hasty }, open) => {
    await using tab = await open(`${url}/ui/runs/${hasty}`);
    await tab.page.getByText("34 of 40 scenarios pass").waitFor();
    await checkWorst(tab.page.locator(".turn-rows .turn-row"));

    const path = `${await Deno.makeTempDir()}/report.html`;
    const report = await fetch(`${url}/runs/${hasty}/export?format=html`);
    await Deno.writeTextFile(path, await report.text());
    await using file = await open(`file://${path}`);
    await file.page.getByText("34 of 40 scenarios pass").waitFor();
    await checkWorst(file.page.locator(".turn-rows .turn-row"));
  },
);

suite.test(
  "side by side the models differ most where one is wrong, and the cell says why",
  async ({ url, group }, open) => {
    await using tab = await open(`${url}/ui/compare?group=${group}`);
    await tab.page.getByText("careful is better than hasty on 40 scenarios.").waitFor();
    await checkWorst(tab.page.locator(".reply-grid tbody td:last-child"));
  },
);

suite.test(
  "a comparison shows why replies fell, and what matters is chosen on its page",
  async ({ url, careful, hasty }, open) => {
    await using tab = await open(`${url}/ui/compare?baseline=${careful}&candidate=${hasty}`);
    const { page } = tab;
    await page.getByText(/^The candidate is worse: overall −0\.\d+\.$/).waitFor();
    await page.getByText("wrong value: 60 days instead of 30 days").first().waitFor();
    const matters = page.getByLabel("Smallest difference that matters");
    await matters.selectOption("0.1");
    await page.waitForURL(/min_difference=0\.1/);
    await page.getByText(/^The candidate is worse/).waitFor();
    await page.goto(`${url}/ui/compare?baseline=${hasty}&candidate=${careful}&min_difference=0.1`);
    await page.getByText(/^The candidate is equal enough: overall \+0\.\d+\.$/).waitFor();
    await page.getByText(/It is not worse by 0\.1, the smallest difference that matters/).waitFor();
  },
);
