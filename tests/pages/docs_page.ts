import { assertEquals, assertStringIncludes } from "@std/assert";
import { startServiceProcess } from "../fakes/service_process.ts";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";

const suite = pageSuite(async () => {
  const [agent, evaluation, locked] = await Promise.all([
    startServiceProcess("agent"),
    startServiceProcess("eval"),
    startServiceProcess("agent", { environment: { API_KEYS: "the-key" } }),
  ]);
  return {
    agent: agent.url,
    evaluation: evaluation.url,
    locked: locked.url,
    async [Symbol.asyncDispose]() {
      for (const service of [agent, evaluation, locked]) await service[Symbol.asyncDispose]();
    },
  };
});

suite.test(
  "every route of both services is shown with its parameters, body and answers",
  async ({ agent, evaluation }, open) => {
    for (const url of [agent, evaluation]) {
      const { paths } = await (await fetch(`${url}/openapi.json`)).json();
      const names = Object.entries<object>(paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`)
      );
      await using tab = await open(`${url}/docs`);
      const { page } = tab;
      const links = page.getByRole("navigation", { name: "Routes" }).locator("li a");
      await links.first().waitFor();
      const shown = (await links.allInnerTexts()).map((text) => text.replace(/\s+/, " "));
      assertEquals(shown.toSorted(), names.toSorted());
      assertEquals(shown[0], url === agent ? "POST /" : "POST /evaluate");
      const subjects = await page.locator(".docs-list h2").allInnerTexts();
      assertEquals([subjects[0], subjects.at(-1)], [
        url === agent ? "Answer" : "Evaluate",
        "Service",
      ]);
      for (const link of await links.all()) {
        await link.click();
        await page.getByRole("heading", { name: "Answers" }).waitFor();
        await page.evaluate(() => {
          for (const details of document.querySelectorAll("details")) details.open = true;
        });
      }
      await checkAccessibility(page);
    }
  },
);

suite.test(
  "a route has an address of its own, and the list can be searched",
  async ({ agent }, open) => {
    await using tab = await open(`${agent}/docs?route=${encodeURIComponent("GET /tools")}`);
    const { page } = tab;
    await page.locator("h2", { hasText: "/tools" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("completions openai");
    const links = page.getByRole("navigation", { name: "Routes" }).locator("li a");
    await becomes(() => links.count(), 1);
    await links.click();
    assertStringIncludes(page.url(), "/docs?route=POST%20%2Fv1%2Fchat%2Fcompletions");
    await page.goBack();
    await page.locator("h2", { hasText: "/tools" }).waitFor();
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByText("No route contains these words.").waitFor();
  },
);

suite.test(
  "a route is tried: its answer, its status, its stream, its error",
  async ({ agent }, open) => {
    await using tab = await open(`${agent}/docs?route=${encodeURIComponent("POST /")}`);
    const { page } = tab;
    const result = page.locator(".try-result");
    await page.getByRole("button", { name: "Send POST" }).click();
    await result.locator(".badge").getByText("200").waitFor();
    await result.getByText(/17 \* 23 is 391/).waitFor();
    await checkAccessibility(page);

    await page.getByLabel("Answer as").selectOption("text/event-stream");
    await page.getByRole("button", { name: "Send POST" }).click();
    await result.getByText(/event: done/).waitFor();

    await page.getByLabel("Body").fill("{");
    await page.getByRole("button", { name: "Send POST" }).click();
    await page.getByText("This is not JSON.").waitFor();
    await page.getByLabel("Body").fill('{"messages": []}');
    await page.getByLabel("x-model-id").fill("");
    await page.getByRole("button", { name: "Send POST" }).click();
    await page.getByText("This is required.").waitFor();
    await page.getByLabel("x-model-id").fill("demo/assistant");
    tab.expect(/400/);
    await page.getByRole("button", { name: "Send POST" }).click();
    await result.locator(".badge").getByText("400").waitFor();

    await page.getByRole("button", { name: "Copy as curl" }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assertStringIncludes(command, `curl -s '${agent}/'`);
    assertStringIncludes(command, "-H 'x-model-id: demo/assistant'");
  },
);

suite.test(
  "routes without parameters and with a path parameter are tried too",
  async ({ agent, evaluation }, open) => {
    await using tab = await open(
      `${agent}/docs?route=${encodeURIComponent("GET /v1/models/{id}")}`,
    );
    await tab.page.getByLabel("id (path, required)").fill("demo/assistant");
    await tab.page.getByRole("button", { name: "Send GET" }).click();
    await tab.page.locator(".try-result").getByText(/"object": "model"/).waitFor();
    await using other = await open(`${evaluation}/docs?route=${encodeURIComponent("GET /runs")}`);
    await other.page.getByRole("button", { name: "Send GET" }).click();
    await other.page.locator(".try-result .badge").getByText("200").waitFor();
  },
);

suite.test(
  "with keys the reference asks for one, and says if the service is not there",
  async ({ locked }, open) => {
    await using tab = await open(`${locked}/docs`);
    tab.expect(/401|ERR_INTERNET_DISCONNECTED/);
    await tab.page.getByLabel("API key").fill("the-key");
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("button", { name: /^Send/ }).waitFor();
    await tab.page.context().setOffline(true);
    await tab.page.getByRole("button", { name: /^Send/ }).click();
    await tab.page.getByRole("alert").getByText(/Cannot reach the service/).waitFor();
    await checkAccessibility(tab.page);
  },
);
