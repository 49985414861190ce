import { assertEquals } from "@std/assert";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(startEvalFixture);

suite.test(
  "a run is scored again by another rubric, and compared with what it was",
  async (fixture, open) => {
    const id = await fixture.evaluate({ test_name: "before", attempts: 1 });
    await using tab = await open(`${fixture.url}/ui/runs/${id}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Score again" }).click();
    const dialog = page.getByRole("dialog", { name: "Score again" });
    tab.expect(/409/); // nothing of the measure was changed
    await dialog.getByRole("button", { name: "Score again" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByLabel("Rubric").fill("Grade the tone only.");
    await checkAccessibility(page);
    await dialog.getByRole("button", { name: "Score again" }).click();
    await page.waitForURL((url) =>
      /\/ui\/runs\/[^/]+$/.test(url.pathname) && !url.href.includes(id)
    );
    const link = page.getByRole("link", { name: "Compare with it" });
    await link.click();
    await page.waitForURL(/\/ui\/compare\?/);
    await page.getByText(/by the rubric alone/).first().waitFor();
  },
);

suite.test("replies that exist already are scored, and the run says so", async (fixture, open) => {
  const response = await fetch(`${fixture.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model_id: "archived",
      test_batch: {
        id: "s",
        interactions: [{
          id: "t",
          user_message: "How long is the warranty?",
          reference_reply: "Three years.",
          agent_reply: "Three years.",
        }],
      },
    }),
  });
  const { run_id } = await response.json();
  assertEquals(response.status, 200);
  await using tab = await open(`${fixture.url}/ui/runs/${run_id}`);
  await tab.page.getByText("scored from existing replies").first().waitFor();
  await checkAccessibility(tab.page);
});
