import { assertEquals } from "@std/assert";
import { checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { startSupportBot } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const other = await startSupportBot();
  return {
    ...fixture,
    other: other.baseUrl,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
});

/** A whole request, to be pasted. */
const requestOf = (endpoint: string) =>
  JSON.stringify({
    test_batch: { id: "one", interactions: [{ id: "1", user_message: "Hello!" }] },
    endpoint,
    model_id: "studio/support-v3",
  });

suite.test(
  "models at several endpoints run side by side from the form",
  async ({ url, endpoint, other }, open) => {
    await using tab = await open(`${url}/ui/new`);
    const { page } = tab;
    const field = (name: string) => page.getByLabel(name, { exact: true });
    tab.expect(/400/);
    await page.getByRole("button", { name: "Use an example" }).click();
    await field("Endpoint").fill(endpoint);
    await field("Model").fill("studio/support-v2");
    await page.getByText("2 turns to ask").waitFor();

    const add = page.getByRole("button", { name: "Add a model at another endpoint" });
    await add.press("Enter");
    await untilFocused(field("Endpoint 2"));
    await page.getByText("Fill in or remove the model at another endpoint.").waitFor();
    await page.keyboard.type("nowhere");
    await field("Model 2").fill("studio/support-v3");
    await page.getByText("4 turns to ask").waitFor();
    const start = page.getByRole("button", { name: "Start the run" });
    await start.click();
    await page.getByText("must be an http or https URL").waitFor();
    await untilFocused(field("Endpoint 2"));
    await checkAccessibility(page);

    await add.click();
    await untilFocused(field("Endpoint 3"));
    await page.getByRole("button", { name: "Remove the model at endpoint 3" }).press("Enter");
    await untilFocused(field("Endpoint 2"));
    await field("Endpoint 2").fill(other);
    await field("Model 2").focus();
    await page.getByText("The endpoint lists 2 models.").nth(1).waitFor();
    await page.reload();
    assertEquals(await field("Endpoint 2").inputValue(), other);

    const sent = page.waitForRequest(/\/evaluate$/);
    await start.click();
    const body = (await sent).postDataJSON();
    assertEquals([body.targets, "endpoint" in body, "model_id" in body], [
      [
        { endpoint, model_id: "studio/support-v2" },
        { endpoint: other, model_id: "studio/support-v3" },
      ],
      false,
      false,
    ]);
    await page.waitForURL(/\/ui\/compare\?group=/);
    await page.locator(".verdict .sentence").waitFor();
  },
);

suite.test("a pasted request runs without models that were entered before", async (
  { url, endpoint, other },
  open,
) => {
  await using tab = await open(`${url}/ui/new`);
  const { page } = tab;
  const field = (name: string) => page.getByLabel(name, { exact: true });
  await page.getByRole("button", { name: "Add a model at another endpoint" }).click();
  await field("Endpoint 2").fill(other);
  await page.getByLabel("Further models").fill("studio/support-v2");
  await page.getByLabel("Batch", { exact: true }).fill(requestOf(endpoint));
  await field("Endpoint 2").waitFor({ state: "detached" });
  assertEquals(await page.getByLabel("Further models").inputValue(), "");
  await page.getByText("1 scenario, 1 turn to ask").waitFor();
});

suite.test(
  "a model at another endpoint can be added to a pasted request, and errors are shown at its models",
  async (
    { url, endpoint, other },
    open,
  ) => {
    await using tab = await open(`${url}/ui/new`);
    const { page } = tab;
    const field = (name: string) => page.getByLabel(name, { exact: true });
    tab.expect(/400/);
    await field("Batch").fill(requestOf(endpoint));
    await page.getByRole("button", { name: "Add a model at another endpoint" }).click();
    await field("Endpoint 2").fill(other);
    await field("Model 2").fill("studio/support-v2");
    await field("Further models").fill("same, same");
    const batch = await field("Batch").inputValue();
    await field("Batch").fill(batch.replace("Hello!", "Hello?")); // the models stay
    const start = page.getByRole("button", { name: "Start the run" });
    await start.click();
    await page.getByText("is the same as targets.1").waitFor();
    assertEquals(await field("Further models").getAttribute("aria-invalid"), "true");
    await field("Further models").fill("");
    await start.click();
    await page.waitForURL(/\/ui\/compare\?group=/);
  },
);
