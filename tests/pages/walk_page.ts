import { assert, assertEquals, assertMatch } from "@std/assert";
import { startServiceProcess } from "../fakes/service_process.ts";
import { completionBody, startProviderDouble } from "../fakes/provider_double.ts";
import { pageSuite } from "./browser.ts";

const readExample = (name: string) =>
  Deno.readTextFileSync(new URL(`../../docs/examples/${name}`, import.meta.url));
const REPLIES: Record<string, string> = JSON.parse(readExample("shop_replies.json")).hasty;

/** A service without a judge, and a model that answers as it was recorded. */
const suite = pageSuite(async () => {
  const model = await startProviderDouble(({ body }) => {
    const { content } = body.messages.at(-1);
    return Response.json(completionBody({ content: REPLIES[content]! }));
  });
  const service = await startServiceProcess("eval");
  const body = {
    test_batch: readExample("shop.jsonl").trim().split("\n").map((line) => JSON.parse(line)),
    endpoint: model.baseUrl,
    model_id: "hasty",
  };
  const response = await fetch(`${service.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { run_id } = await response.json();
  return {
    url: service.url,
    run: run_id as string,
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

suite.test(
  "the five worst replies of 40 conversations are wrong ones, each with its true reason",
  async (
    { url, run },
    open,
  ) => {
    await using tab = await open(`${url}/ui/runs/${run}`);
    const { page } = tab;
    await page.getByText("34 of 40 scenarios pass").waitFor();
    const rows = page.locator(".turn-rows .turn-row");
    await rows.nth(4).waitFor();
    const seen = new Set<number>();
    for (let index = 0; index < 5; index++) {
      const text = await rows.nth(index).locator(".reply").innerText();
      const known = WRONG.findIndex(([reply]) => reply.test(text));
      assert(known >= 0, `a right reply is among the worst: ${text}`);
      assertMatch(await rows.nth(index).locator(".why").innerText(), WRONG[known]![1]);
      seen.add(known);
    }
    assertEquals(seen.size, 5);
  },
);
