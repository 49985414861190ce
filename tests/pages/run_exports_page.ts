import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(startEvalFixture);

suite.test(
  "a run is exported as a file that opens offline, and is deleted",
  async (fixture, open) => {
    const id = await fixture.evaluate({ test_name: "to be deleted", attempts: 1 });
    await using tab = await open(`${fixture.url}/ui/runs/${id}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: /HTML report/ }).click(),
    ]);
    const path = `${await Deno.makeTempDir()}/report.html`;
    await download.saveAs(path);
    await using report = await open(`file://${path}`);
    await report.page.getByRole("heading", { name: "to be deleted" }).waitFor();
    await checkAccessibility(report.page);
    await report.page.locator(".turn-rows a.name").first().click();
    await report.page.getByRole("heading", { name: "Reply and reference" }).waitFor();
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The run is deleted.").waitFor();
    await page.waitForURL(`${fixture.url}/`);
  },
);

suite.test("a run is exported in every format from its page", async (fixture, open) => {
  const old = await fixture.evaluate({ attempts: 1, model_id: "studio/support-v2" });
  const now = await fixture.evaluate({ attempts: 1 });
  await using tab = await open(`${fixture.url}/ui/runs/${now}`);
  const { page } = tab;
  const formats: [item: string, ending: string, beginning: RegExp][] = [
    ["HTML report, one file", "html", /^<!doctype html>/],
    ["JSON", "json", /^\{"message":/],
    ["JSONL", "jsonl", /^\{/],
    ["CSV", "csv", /^\ufeff?"run_id"/],
    ["JUnit XML", "xml", /^<\?xml/],
    ["Markdown", "md", /^## Evaluation/],
  ];
  for (const [item, ending, beginning] of formats) {
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: item, exact: true }).click(),
    ]);
    assertEquals(download.suggestedFilename(), `assay-${now}.${ending}`);
    assertMatch(await Deno.readTextFile((await download.path())!), beginning);
  }
  await page.goto(`${fixture.url}/ui/compare?baseline=${old}&candidate=${now}`);
  for (const item of ["HTML report, one file", "Markdown"]) {
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: item }).click(),
    ]);
    assertStringIncludes(await Deno.readTextFile((await download.path())!), old);
  }
});

suite.test(
  "a corrected reply is saved as training data from the run's page",
  async (fixture, open) => {
    const id = await fixture.evaluate({ attempts: 1 });
    await fixture.grade(id, "0/1/0", { value: 0, corrected_reply: "What it should have said." });
    await using tab = await open(`${fixture.url}/ui/runs/${id}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Training: pairs (DPO)" }).click(),
    ]);
    assertEquals(download.suggestedFilename(), `assay-${id}.dpo.jsonl`);
    const text = await Deno.readTextFile((await download.path())!);
    assertStringIncludes(
      text,
      '"chosen":[{"role":"assistant","content":"What it should have said."}]',
    );
    await page.getByText("Saved 1 row.").waitFor();
  },
);
