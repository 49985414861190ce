import { Buffer } from "node:buffer";
import type { Locator, Page } from "playwright-core";
import { startServiceProcess } from "../fakes/service_process.ts";
import { agentEnvironment, type ScriptedHub, startScriptedHub } from "./scripted_hub.ts";

/** An agent on a scripted hub, as a process of its own. */
export interface ScriptedAgent extends AsyncDisposable {
  url: string;
  hub: ScriptedHub;
}

export async function startScriptedAgent(
  environment: Record<string, string> = {},
  options: { models?: string[] } = {},
): Promise<ScriptedAgent> {
  const hub = await startScriptedHub(options);
  const agent = await startServiceProcess("agent", {
    environment: { ...agentEnvironment(hub), ...environment },
  });
  return {
    url: agent.url,
    hub,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
}

/** Sends a message by keyboard, once there is a model to send it to. */
export async function say(page: Page, text: string): Promise<void> {
  const box = messageBox(page);
  await page.getByRole("button", { name: /^(Model|First model): (?!Choose a model)/ }).waitFor();
  await box.fill(text);
  await box.press("Enter");
}

export function messageBox(page: Page): Locator {
  return page.getByRole("textbox", { name: "Message", exact: true });
}

/** The answers of the last turn that is shown. */
export function lastAnswers(page: Page): Locator {
  return page.locator(".turn").last().locator(".answer");
}

/** Sends a message and waits until its answers are complete. */
export async function ask(page: Page, text: string): Promise<Locator> {
  const before = await page.locator(".turn").count();
  await say(page, text);
  await page.locator(".turn").nth(before).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  return lastAnswers(page);
}

/** Chooses a model by typing into the list. */
export async function chooseModel(page: Page, text: string, picker = /^(Model|First model):/) {
  await page.getByRole("button", { name: picker }).click();
  await page.getByRole("combobox").fill(text);
  await page.getByRole("option").first().waitFor();
  await page.getByRole("combobox").press("Enter");
}

/** Gives the page a file of conversations. */
export async function importFile(page: Page, text: string): Promise<void> {
  await page.getByLabel("File to import").setInputFiles({
    name: "conversations.json",
    mimeType: "application/json",
    buffer: Buffer.from(text),
  });
}

/** Waits until a text is in the browser's database. */
export async function untilStored(page: Page, text: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await readStored(page)).includes(text)) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`the browser did not store: ${text}`);
}

/** The browser's conversations as JSON. */
function readStored(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const database: IDBDatabase = await new Promise((resolve) => {
      const opening = indexedDB.open("assay-chat");
      opening.onsuccess = () => resolve(opening.result);
    });
    const all: unknown[] = await new Promise((resolve) => {
      const reading = database.transaction("conversations").objectStore("conversations").getAll();
      reading.onsuccess = () => resolve(reading.result);
    });
    database.close();
    return JSON.stringify(all);
  });
}
