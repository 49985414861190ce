import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { startServiceProcess } from "../fakes/service_process.ts";
import { pageSuite } from "./browser.ts";
import { ask, chooseModel, importFile, say } from "./chat.ts";
import { PAYLOADS } from "./payloads.ts";
import { agentEnvironment, startScriptedHub, SUPPORT } from "./scripted_hub.ts";

const NAMES = PAYLOADS.filter((payload) => !payload.includes("\n"));

const suite = pageSuite(async () => {
  const hub = await startScriptedHub();
  const models = Object.fromEntries(NAMES.map((name, index) => [
    name,
    SUPPORT.id.slice(0, -3) + String(index).padStart(3, "0"),
  ]));
  const agent = await startServiceProcess("agent", {
    environment: { ...agentEnvironment(hub), STUDIO_MODELS: JSON.stringify(models) },
  });
  return {
    url: agent.url,
    hub,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
});

/** Everything that a payload may have become: elements that no component makes, odd links, handlers. */
async function checkNothingGrew(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const made =
      "img,iframe,object,embed,video,audio,math,marquee,base,meta[http-equiv],body script,body style,body link";
    const elements = [...document.querySelectorAll(made)].map((element) => element.outerHTML);
    const links = [...document.querySelectorAll("a")].map(({ href }) => href)
      .filter((href) => !/^(https?|mailto):/.test(href));
    const handlers = [...document.querySelectorAll("*")].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith("on"))
    );
    return [...elements, ...links, ...handlers];
  });
  assertEquals(found, []);
}

suite.test("nothing that a model says becomes more than text", async ({ url, hub }, open) => {
  assert(PAYLOADS.length >= 60);
  await using tab = await open(url);
  const { page } = tab;
  for (const [index, part] of [PAYLOADS.slice(0, 35), PAYLOADS.slice(35)].entries()) {
    hub.answers.set(`say ${index}`, part.join("\n\n---\n\n"));
    const answer = await ask(page, `say ${index}`);
    await answer.locator(".prose hr").first().waitFor();
  }
  await checkNothingGrew(page);
  for (const link of await page.locator(".prose a").all()) {
    assertEquals(await link.getAttribute("target"), "_blank");
  }
});

suite.test(
  "neither do the person's messages, tool arguments, tool results and titles",
  async ({ url, hub }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    const all = PAYLOADS.join("\n");
    await ask(page, all);
    await checkNothingGrew(page);
    const answer = await ask(page, `calculate ${PAYLOADS.join(" ").slice(0, 6_000)}`);
    await answer.locator(".tool summary").click();
    await checkNothingGrew(page);
    hub.answers.set("think again", "fine");
    await ask(page, "think again");
    await page.getByText("Reasoning").last().click();
    const payload = PAYLOADS[6]!;
    await page.getByRole("navigation").getByRole("button", { name: /^Actions for/ }).first()
      .click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Title").fill(payload);
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("navigation").getByText(payload).first().waitFor();
    await page.getByRole("button", { name: "Save as test" }).click();
    await page.getByLabel("Scenario id").waitFor();
    await checkNothingGrew(page);
  },
);

suite.test(
  "neither do the names of models, typed ids, and what an error says of them",
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    tab.expect(/40[04]|50[02]/);
    await page.getByRole("button", { name: /^Model:/ }).click();
    await page.getByRole("option").nth(NAMES.length).waitFor();
    await checkNothingGrew(page);
    await page.keyboard.press("Escape");
    await chooseModel(page, "evil/<img/src=x/onerror=pwned()>");
    await say(page, "fail <img src=x onerror=pwned()>");
    await page.getByRole("alert").waitFor();
    await checkNothingGrew(page);
  },
);

suite.test("neither does an imported file, whatever its fields hold", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const conversations = PAYLOADS.map((payload, index) => ({
    id: payload,
    title: payload,
    createdAt: payload,
    models: [payload, { type: "img", props: { src: "x" } }],
    settings: { systemPrompt: payload, temperature: payload },
    turns: {
      a: {
        id: "a",
        parent: null,
        text: payload,
        answers: [{
          model: payload,
          status: payload,
          parts: [
            { type: "text", text: payload },
            { type: "reasoning", text: payload },
            {
              type: "tool",
              id: payload,
              name: payload,
              args: { [payload]: payload },
              result: { content: payload, status: payload, ms: payload },
            },
            {
              type: "text",
              text: { type: "script", props: { children: "pwned()" }, constructor: undefined },
            },
          ],
          facts: { model: payload },
        }],
      },
    },
    shown: { "": "a", [payload]: payload },
    index,
  }));
  await importFile(page, JSON.stringify({ format: "assay-conversations", conversations }));
  await page.getByText(`${PAYLOADS.length} conversations imported.`).waitFor();
  await checkNothingGrew(page);
  for (const index of [0, 6, 40, 47]) {
    await page.getByRole("navigation").locator("li a").nth(index).click();
    await page.locator(".answer details").first().waitFor();
    for (const summary of await page.locator(".answer summary").all()) await summary.click();
    await checkNothingGrew(page);
  }
});
