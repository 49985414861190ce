import { Buffer } from "node:buffer";
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { ask, chooseModel, lastAnswers, messageBox, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

/** A red dot of one pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

suite.test("images are sent as parts, and text files as part of the message", async (
  { url, hub },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.getByLabel("Files to attach").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") },
    { name: "notes.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") },
    { name: "song.bin", mimeType: "", buffer: Buffer.from([0, 255, 1]) },
  ]);
  await page.getByText("song.bin is neither a text, an image nor a PDF file.").waitFor();
  await page.getByRole("img", { name: "dot.png" }).waitFor();
  await becomes(async () => (await messageBox(page).inputValue()).includes("a,b\n1,2"), true);
  await checkAccessibility(page, { isQuick: true });
  await ask(page, "What is this?");
  const { content } = hub.requests.at(-1)!.body.messages.at(-1);
  assertEquals(content, [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
  ]);
  assertEquals(await page.locator(".composer img").count(), 0);
  await page.locator(".question").getByRole("img", { name: "dot.png" }).waitFor();
  await page.reload();
  await page.locator(".question").getByRole("img", { name: "dot.png" }).waitFor();
  await page.getByRole("button", { name: "Save as test" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as file" }).click();
  const stream = await (await saved).createReadStream();
  let text = "";
  for await (const chunk of stream) text += chunk;
  const [turn] = JSON.parse(text).interactions;
  assertEquals(turn.user_message, content, "a test asks with the image, too");
});

/** Gives files to the message box as a person does who pastes or drops them. */
function give(page: Page, how: "paste" | "drop", files: { name: string; type: string }[]) {
  return messageBox(page).evaluate((box, [how, files, data]) => {
    const given = new DataTransfer();
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    for (const { name, type } of files) given.items.add(new File([bytes], name, { type }));
    const options = { bubbles: true, cancelable: true };
    const event = how === "paste"
      ? new ClipboardEvent("paste", { ...options, clipboardData: given })
      : new DragEvent("drop", { ...options, dataTransfer: given });
    return !box.dispatchEvent(event); // else the browser would open the file
  }, [how, files, PNG] as const);
}

suite.test("an image that is pasted and a PDF that is dropped are sent", async (
  { url, hub },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  assertEquals(await give(page, "paste", [{ name: "image.png", type: "image/png" }]), true);
  await page.getByRole("img", { name: "image.png" }).waitFor();
  const dropped = [
    { name: "bill.pdf", type: "application/pdf" },
    { name: "second.png", type: "image/png" },
  ];
  assertEquals(await give(page, "drop", dropped), true);
  await page.getByRole("list", { name: "Attached" }).getByText("bill.pdf").waitFor();
  await page.getByRole("button", { name: "Remove second.png" }).click();
  await checkAccessibility(page, { isQuick: true });
  await ask(page, "What do I owe?");
  assertEquals(hub.requests.at(-1)!.body.messages.at(-1).content, [
    { type: "text", text: "What do I owe?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    {
      type: "file",
      file: { filename: "bill.pdf", file_data: `data:application/pdf;base64,${PNG}` },
    },
  ]);
});

suite.test("a diagram is shown as its source, with a line that says so", async (agent, open) => {
  agent.hub.answers.set("draw it", "```mermaid\ngraph TD; A-->B;\n```");
  await using tab = await open(agent.url);
  const answer = await ask(tab.page, "draw it");
  assertEquals(
    await answer.locator(".code-head span").first().innerText(),
    "mermaid: a diagram, shown as its source",
  );
  assertEquals(await answer.locator(".code pre").innerText(), "graph TD; A-->B;");
  await checkAccessibility(tab.page, { isQuick: true });
});

suite.test("two answers show their differences, and the better one becomes the reference", async (
  { url, hub },
  open,
) => {
  hub.answers.set("when do you open?", "We open at nine every day.");
  await using tab = await open(url);
  const { page } = tab;
  await chooseModel(page, "model-01");
  await page.getByRole("button", { name: "Answer with a second model side by side" }).click();
  await chooseModel(page, "model-02", /^Second model:/);
  await ask(page, "who are you?");
  await becomes(() => lastAnswers(page).count(), 2);
  await page.getByRole("button", { name: "Differences" }).click();
  const differences = page.getByRole("group", { name: "Differences" });
  await differences.locator("ins").first().waitFor();
  assertStringIncludes(await differences.locator("ins").first().textContent() ?? "", "02");
  const better = page.getByRole("group", { name: "Which answer is better?" });
  await better.getByRole("button", { name: "acme/model-02" }).click();
  await checkAccessibility(page);
  await page.reload();
  await better.getByRole("button", { name: "acme/model-02", pressed: true }).waitFor();
  await page.getByRole("button", { name: "Save as test" }).click();
  assertEquals(
    await page.getByLabel("Reference replies").locator("option:checked").textContent(),
    "the better one of each turn",
  );
  await page.getByText("a grade belongs to a reply of a run").waitFor();
  const references = page.getByRole("dialog").getByRole("textbox", { name: /reference/i });
  assertEquals(await references.first().inputValue(), "acme/model-02 was asked: who are you?");
});
