import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { completionBody, type ReceivedRequest } from "../fakes/provider_answers.ts";
import { startProviderDouble } from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { pageSuite } from "./browser.ts";
import { PAYLOADS } from "./payloads.ts";

/** A model that replies with what it is asked, and fails with it where it is told to. */
const suite = pageSuite(async () => {
  const double = await startProviderDouble(({ method, body }: ReceivedRequest) => {
    if (method === "GET") return Response.json({ data: PAYLOADS.map((id) => ({ id })) });
    const asked = String(body.messages.at(-1).content);
    if (asked.includes("svg")) {
      return Response.json({ error: { message: asked } }, { status: 400 });
    }
    return Response.json(completionBody({ content: `${asked} and more` }));
  });
  const service = await startServiceProcess("eval", { environment: { MODEL_RETRIES: "0" } });
  const evaluate = async (offset: number) => {
    const at = (index: number) => PAYLOADS[(index + offset) % PAYLOADS.length]!;
    const response = await fetch(`${service.url}/evaluate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        endpoint: double.baseUrl,
        model_id: at(0),
        test_name: at(1),
        attempts: 2,
        test_batch: PAYLOADS.map((payload, index) => ({
          id: payload,
          description: at(index + 2),
          interactions: [{
            id: at(index + 3),
            user_message: payload,
            reference_reply: at(index + 4),
            reference_metadata: { [at(7)]: at(index % 5), intent: at(index % 7) },
            checks: [{ type: "contains", value: "x", name: at(index + 5) }],
          }],
        })),
      }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer.run_id as string;
  };
  async function put(path: string, body: unknown): Promise<void> {
    const response = await fetch(`${service.url}${path}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    await response.body?.cancel();
  }
  const baseline = await evaluate(0);
  await put(
    "/datasets/payloads",
    PAYLOADS.map((text) => ({
      id: text,
      description: text,
      interactions: [{
        id: text,
        user_message: text,
        reference_reply: text,
        reference_metadata: { [text]: text },
      }],
    })),
  );
  for (const [scenario, text] of PAYLOADS.entries()) {
    const grade = { value: scenario / PAYLOADS.length, author: text, label: text, comment: text };
    await put(`/runs/${baseline}/turns/${scenario}/1/0/grade`, grade);
  }
  return {
    url: service.url,
    baseline,
    candidate: await evaluate(1),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await double[Symbol.asyncDispose]();
    },
  };
});

/** Waits until the view shows something, and looks for what a payload would have made of it. */
function settlerOf(page: Page) {
  return async (selector: string) => {
    await page.locator(selector).first().waitFor();
    assertEquals(await page.locator("main script, main img, main iframe, main object").count(), 0);
    const links = await page.locator("main a").evaluateAll((all) =>
      all.map((link) => (link as HTMLAnchorElement).protocol).filter((one) => !/^https?:/.test(one))
    );
    assertEquals(links, []);
  };
}

/** Shows another view without loading the page again. */
async function changeAddress(page: Page, address: string): Promise<void> {
  await page.evaluate((place) => {
    history.pushState(null, "", place);
    dispatchEvent(new PopStateEvent("popstate"));
  }, address);
}

suite.test(
  `${PAYLOADS.length} payloads stay text in every field of every view`,
  async (fixture, open) => {
    const { url, baseline, candidate } = fixture;
    await using tab = await open(url);
    const { page } = tab;
    const settle = settlerOf(page);
    await settle("table.runs .name a");
    await page.getByRole("link", { name: PAYLOADS[1]!, exact: true }).waitFor();
    await page.goto(`${url}/?test=${encodeURIComponent(PAYLOADS[1]!)}`);
    await settle("table.runs .name a");
    await page.goto(`${url}/ui/runs/${baseline}`);
    await settle(".turn-rows a.name");
    await page.goto(`${url}/ui/runs/${baseline}?view=scores`);
    await settle(".confusion td a");
    await page.goto(`${url}/ui/compare?baseline=${baseline}&candidate=${candidate}`);
    await settle(".verdict .sentence");
    for (const [scenario, payload] of PAYLOADS.entries()) {
      await changeAddress(page, `/ui/runs/${baseline}?turn=${scenario}/1/0`);
      await page.waitForFunction(
        (text) => document.querySelector(".asked")?.textContent === text,
        payload,
      );
      await settle(".score-list");
    }
    await page.goto(`${url}/ui/datasets/new`);
    await page.getByLabel("Content", { exact: true }).fill(
      JSON.stringify(
        PAYLOADS.map((text) => ({ id: text, interactions: [{ id: text, user_message: text }] })),
      ),
    );
    await settle(".scenarios .said");
  },
);

suite.test("payloads stay text in datasets and in grades", async ({ url, baseline }, open) => {
  await using tab = await open(`${url}/ui/dataset/payloads`);
  const { page } = tab;
  tab.expect(/400|404/);
  const settle = settlerOf(page);
  await settle(".scenarios summary");
  for (const row of await page.locator(".scenarios summary").all()) await row.click();
  await page.locator(".scenarios .said").nth(PAYLOADS.length * 2 - 1).waitFor();
  await settle(".scenarios .said");
  await page.getByRole("button", { name: /^Edit / }).first().click();
  await settle(".turn-fields");
  await page.goto(`${url}/ui/runs/${baseline}?view=grades`);
  await settle(".figures");
  await page.getByRole("region", { name: "Grades", exact: true }).locator("tbody tr")
    .nth(PAYLOADS.length - 1).waitFor();
  await settle(".figures");
  for (const [scenario, payload] of PAYLOADS.entries()) {
    await changeAddress(page, `/ui/runs/${baseline}?turn=${scenario}/1/0`);
    await page.waitForFunction(
      (text) =>
        document.querySelector(".asked")?.textContent === text &&
        document.querySelector(".comment")?.textContent === text,
      payload,
    );
    await settle(".grade-form");
  }
  for (const text of PAYLOADS.slice(0, 8)) {
    const scenario = { id: text, interactions: [{ id: text, user_message: text }] };
    const given = encodeURIComponent(JSON.stringify(scenario));
    await page.goto("about:blank");
    await page.goto(
      `${url}/ui/datasets/add#scenario=${given}&name=${encodeURIComponent(text)}`,
    );
    await settle(".turn-fields");
    await page.goto(`${url}/ui/dataset/${encodeURIComponent(text)}`);
    await settle("main *");
  }
  await page.goto(`${url}/ui/datasets/new?name=${encodeURIComponent(PAYLOADS[0]!)}`);
  await page.getByLabel("Content", { exact: true }).fill(JSON.stringify(PAYLOADS));
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("must have 1 to 100 letters").waitFor();
  await settle("form");
});

suite.test("payloads stay text in a report", async ({ url, baseline }, open) => {
  const path = `${await Deno.makeTempDir()}/report.html`;
  const answer = await fetch(`${url}/runs/${baseline}/export?format=html`);
  await Deno.writeTextFile(path, await answer.text());
  await using tab = await open(`file://${path}`);
  await tab.page.locator(".turn-rows a.name").first().waitFor();
  await tab.page.locator(".turn-rows a.name").nth(3).click();
  await tab.page.locator(".score-list").first().waitFor();
  assertEquals(await tab.page.locator("main img, main script, main iframe").count(), 0);
});
