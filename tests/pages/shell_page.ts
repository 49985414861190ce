import { assertEquals, assertNotEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import { startServiceProcess } from "../fakes/service_process.ts";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { ask, chooseModel } from "./chat.ts";

const suite = pageSuite(async () => {
  const [agent, evaluation] = await Promise.all([
    startServiceProcess("agent"),
    startServiceProcess("eval"),
  ]);
  return {
    urls: [agent.url, evaluation.url],
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await evaluation[Symbol.asyncDispose]();
    },
  };
});

suite.test(
  "an address that no view has says so, and leads to the start",
  async ({ urls }, open) => {
    for (const url of urls) {
      await using tab = await open(`${url}/ui/no/such/view`);
      await tab.page.getByRole("heading", { name: "There is no such page" }).waitFor();
      await checkAccessibility(tab.page);
    }
  },
);

suite.test("the theme follows the system until the person chooses one", async ({ urls }, open) => {
  await using tab = await open(`${urls[0]}/ui/no/such/view`, { colorScheme: "dark" });
  const { page } = tab;
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  assertEquals(dark === light, false);
  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await becomes(() => background(), dark);
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  await becomes(() => background(), dark);
});

suite.test("the place where the person is stands out in forced colours, too", async (
  { urls: [, evaluation = ""] },
  open,
) => {
  await using tab = await open(evaluation);
  const { page } = tab;
  await page.emulateMedia({ forcedColors: "active" });
  const background = (of: Locator) => of.evaluate((node) => getComputedStyle(node).backgroundColor);
  const here = page.getByRole("navigation").getByRole("link", { name: "Runs", exact: true });
  assertNotEquals(await background(here), await background(page.locator("body")));
});

suite.test("a view loads one style and scripts, all of it from its service", async (
  { urls: [agent = "", evaluation = ""] },
  open,
) => {
  const views = [agent, `${agent}/docs`, evaluation, `${evaluation}/ui/new`, `${evaluation}/docs`];
  for (const view of views) {
    await using tab = await open(`${agent}/healthz`);
    const asked: { url: string; type: string }[] = [];
    tab.page.on("request", (request) => {
      asked.push({ url: request.url(), type: request.resourceType() });
    });
    await tab.page.goto(view, { waitUntil: "networkidle" });
    assertEquals(asked.filter(({ type }) => type === "stylesheet").length, 1, view);
    const origins = asked.filter(({ url }) => !url.startsWith("data:"))
      .map(({ url }) => new URL(url).origin);
    assertEquals([...new Set(origins)], [new URL(view).origin]);
  }
});

suite.test("nothing moves for whoever asked for less motion", async ({ urls }, open) => {
  await using tab = await open(urls[1]!, { reducedMotion: "reduce" });
  const { page } = tab;
  await page.route(/\/runs\?/, () => {}); // never answered
  await page.reload();
  const spinner = page.locator(".spinner");
  await spinner.waitFor();
  const style = await spinner.evaluate((element) => {
    const { animationDuration, animationIterationCount } = getComputedStyle(element);
    return [parseFloat(animationDuration) < 0.001, animationIterationCount];
  });
  assertEquals(style, [true, "1"]);
});

suite.test("? lists the keys, and Escape closes the list", async ({ urls }, open) => {
  await using tab = await open(`${urls[0]}/ui/no/such/view`);
  const { page } = tab;
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await page.keyboard.press("?");
  await page.getByText("Show these keys").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

suite.test("the demo says that it is one, and answers with a tool", async ({ urls }, open) => {
  await using tab = await open(urls[0]!);
  const { page } = tab;
  await page.getByText("No provider is configured, so an embedded demo answers.").waitFor();
  await page.getByRole("button", { name: "Model: demo/assistant" }).getByText("demo", {
    exact: true,
  })
    .waitFor();
  await checkAccessibility(page);
  const answer = await ask(page, "What is 17 * 23?");
  await answer.getByText("17 * 23 is 391.").waitFor();
  await answer.locator(".tool summary").click();
  await answer.getByText("391", { exact: true }).waitFor();
  await chooseModel(page, "other/typed");
  const picker = page.getByRole("button", { name: "Model: other/typed" });
  await picker.waitFor();
  assertEquals(await picker.getByText("demo", { exact: true }).count(), 0);
});

suite.test(
  "both pages work in a browser that stores nothing for them",
  async ({ urls: [agent, evaluation] }, open) => {
    await using tab = await open("about:blank");
    const { page } = tab;
    await page.addInitScript(() => {
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(globalThis, name, {
          get() {
            throw new DOMException("storing is switched off", "SecurityError");
          },
        });
      }
    });
    await page.goto(evaluation!);
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await page.getByRole("button", { name: "Theme: system" }).click();
    await page.getByRole("button", { name: "Theme: light" }).waitFor();
    await page.goto(agent!);
    await ask(page, "What is 17 * 23?");
    await page.getByText("17 * 23 is 391.").waitFor();
  },
);

suite.test("a file that is dropped beside a field does not replace the page", async (
  { urls },
  open,
) => {
  for (const url of urls) {
    await using tab = await open(url);
    const { page } = tab;
    await page.locator("h2").first().waitFor();
    const isRefused = (type: "dragover" | "drop") =>
      page.evaluate((type) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["a,b"], "table.csv"));
        const init = { dataTransfer, bubbles: true, cancelable: true };
        return !document.querySelector("h2")!.dispatchEvent(new DragEvent(type, init));
      }, type);
    assertEquals([await isRefused("dragover"), await isRefused("drop")], [true, true]);
  }
});
