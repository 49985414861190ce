import { assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { answerOf, becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { gradeSome, startEvalFixture } from "./eval_fixture.ts";

const PRICES = JSON.stringify({ "studio/*": { input: 2, output: 8 } });

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture({ environment: { PRICES } });
  const graded = await fixture.evaluate({ attempts: 2 });
  const fresh = await fixture.evaluate({ attempts: 2, test_name: "fresh" });
  await gradeSome(fixture, graded);
  return { ...fixture, graded, fresh };
});

const gradesOf = (page: Page) => page.locator(".section", { hasText: "Grades by people" });

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press("Tab");
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error("the element cannot be reached with Tab");
}

suite.test(
  "a turn is graded with the mouse, by several people, each with one grade",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/runs/${fixture.fresh}?turn=1/1/0`);
    const { page } = tab;
    tab.expect(/400/);
    const section = gradesOf(page);
    await page.getByText("Nobody has graded this turn yet.").waitFor();
    await checkAccessibility(page);
    await section.getByRole("button", { name: "mostly right" }).click();
    await section.getByLabel("Your name").fill("Ann");
    await section.getByLabel("Label").fill("too long");
    await section.getByLabel("Comment").fill("It repeats itself.");
    await section.getByLabel("What it should have said").fill("Yes.");
    await section.getByRole("button", { name: "Save the grade" }).click();
    await section.locator(".reasons").getByText("It repeats itself.").waitFor();
    await section.locator(".reasons").getByText("It should have said: Yes.").waitFor();
    await section.getByLabel("Your name").fill("Ben");
    await section.getByLabel("Grade from 0 to 1").fill("3");
    await section.locator(".field-error").waitFor();
    await section.getByLabel("Grade from 0 to 1").fill("0,4");
    await section.getByRole("button", { name: "Save the grade" }).click();
    await section.locator(".reasons li").nth(1).waitFor();
    await section.getByRole("button", { name: "right", exact: true }).click();
    await section.getByRole("button", { name: "Change the grade" }).click();
    await section.locator(".reasons").getByText("1.00").waitFor();
    await checkAccessibility(page);
    const { grades } =
      await (await fetch(`${fixture.url}/runs/${fixture.fresh}/turns/1/1/0/grades`)).json();
    assertEquals(
      grades.map(({ author, value }: { author: string; value: number }) => [author, value]),
      [["Ann", 0.75], ["Ben", 1]],
    );
    assertEquals(grades[0].corrected_reply, "Yes.");
  },
);

suite.test(
  "everything from the list to a turn's grade and back goes by keyboard",
  async (fixture, open) => {
    await using tab = await open(fixture.url);
    const { page } = tab;
    await tabTo(page, page.locator(`a[href="/ui/runs/${fixture.fresh}"]`));
    await page.keyboard.press("Enter");
    await page.locator(".turn-rows .name").first().waitFor();
    await page.keyboard.press("j");
    await page.getByRole("form", { name: "Grade this turn" }).waitFor();
    await page.keyboard.press("?");
    await page.getByText("Save the grade").last().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("4");
    await gradesOf(page).locator(".reasons").getByText("0.75").waitFor();
    await page.keyboard.press("c");
    await page.keyboard.type("written without a mouse");
    await page.keyboard.press("Escape");
    await page.keyboard.press("s");
    await gradesOf(page).locator(".reasons").getByText("written without a mouse").waitFor();
    await page.keyboard.press("2");
    await gradesOf(page).locator(".reasons").getByText("0.25").waitFor();
    await page.keyboard.press("u");
    await page.waitForURL((url) => !url.searchParams.has("turn"));
    await tabTo(page, page.getByRole("link", { name: "Grades", exact: true }));
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Grades", exact: true }).waitFor();
    await tabTo(page, page.locator(".crumbs").getByRole("link", { name: "Runs" }));
    await page.keyboard.press("Enter");
    await page.locator("table.runs tbody tr").first().waitFor();
  },
);

suite.test(
  "a threshold is called best only if it agrees with people more often than the current one",
  async (fixture, open) => {
    for (const agreement of [0.5, 0.75]) {
      await using tab = await open(`${fixture.url}/ui/no/such/view`);
      const { page } = tab;
      await page.route(/\/agreement/, async (route) => {
        const answer = JSON.parse((await answerOf(route)).body);
        answer.judge.threshold.present.agreement = 0.5;
        answer.judge.threshold.best.agreement = agreement;
        answer.judge.threshold.best.kappa = agreement - 0.5;
        await route.fulfill({ json: answer });
      });
      await page.goto(`${fixture.url}/ui/runs/${fixture.graded}?view=grades`);
      const rows = page.getByRole("region", { name: "Thresholds" }).locator("tbody th");
      await rows.first().waitFor();
      assertEquals(
        await rows.allTextContents(),
        agreement > 0.5 ? ["current", "best"] : ["current"],
      );
      const byChance = page.getByText("No threshold agrees with people better than chance.");
      assertEquals(await byChance.count(), agreement > 0.5 ? 0 : 1);
    }
  },
);

suite.test(
  "the agreement shows people, the judge's bias and the threshold",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/runs/${fixture.graded}?view=grades`);
    const { page } = tab;
    await page.getByText("16 grades of 8 turns by 2 people").waitFor();
    await page.locator("p .sentence", { hasText: /^Agreement of judge with people: / }).waitFor();
    await page.getByRole("heading", { name: "Judge against people" }).waitFor();
    await page.getByRole("region", { name: "Thresholds" }).getByText("current").waitFor();
    await page.getByRole("region", { name: "People", exact: true }).getByText("Ben").waitFor();
    await becomes(
      () => page.getByRole("region", { name: "Grades", exact: true }).locator("tbody tr").count(),
      16,
    );
    await checkAccessibility(page);
    await page.getByLabel("Score").selectOption("token_f1");
    await page.getByRole("heading", { name: "Words in common against people" }).waitFor();
    await page.getByLabel("Grades pass from").fill("7");
    await page.keyboard.press("Tab"); // not a grade: the field stays, to correct it
    await page.getByLabel("Grades pass from").fill("0,9");
    await page.keyboard.press("Tab");
    await page.getByText("from a mean grade of 0.90").waitFor();
    await page.reload();
    await page.getByText("from a mean grade of 0.90").waitFor();
    await page.getByRole("region", { name: "Grades", exact: true }).getByRole("link").first()
      .click();
    await page.getByRole("form", { name: "Grade this turn" }).waitFor();
  },
);

suite.test("replies are graded one after another with a key each, and a grade is undone", async (
  fixture,
  open,
) => {
  const id = await fixture.evaluate({ attempts: 1, test_name: "nobody" });
  await using tab = await open(`${fixture.url}/ui/runs/${id}?view=grades`);
  const { page } = tab;
  await page.getByText("No grades yet.").waitFor();
  await page.getByText("From 10 grades on you see how far people agree").waitFor();
  await checkAccessibility(page);
  await page.getByRole("link", { name: "Replies without a grade" }).click();
  await page.getByText("12 turns fit the filters").waitFor();
  await page.locator(".turn-rows .name").first().click();
  await gradesOf(page).getByLabel("Your name").fill("Ann");
  const heading = page.locator("h2").first();
  for (const key of ["4", "5"]) {
    const before = await heading.innerText();
    await page.keyboard.press("Escape");
    await heading.click(); // the focus leaves the field of the name
    await page.keyboard.press(key);
    await becomes(async () => await heading.innerText() !== before, true);
  }
  const grades = async () =>
    (await (await fetch(`${fixture.url}/runs/${id}/grades`)).json()).grades
      .map(({ author, value }: { author: string; value: number }) => [author, value]);
  assertEquals((await grades()).toSorted(), [["Ann", 0.75], ["Ann", 1]]);
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.getByText("The grade is deleted.").waitFor();
  await page.goto(`${fixture.url}/ui/runs/${id}?view=grades`);
  await page.getByRole("button", { name: /^Delete the grade of .* by Ann$/ }).click();
  await page.getByText("No grades yet.").waitFor();
  assertEquals(await grades(), []);
});

suite.test(
  "a run and a turn show what they cost",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/runs/${fixture.graded}`);
    const { page } = tab;
    await page.locator(".figures-grid").getByText(/\$0\.\d+/).waitFor();
    await page.goto(`${fixture.url}/ui/runs/${fixture.graded}?turn=0/1/1`);
    await page.locator(".facts").getByText(/\$0\.0/).waitFor();
  },
);

suite.test("a report shows the grades and the spread without a server", async (fixture, open) => {
  const path = `${await Deno.makeTempDir()}/report.html`;
  const answer = await fetch(`${fixture.url}/runs/${fixture.graded}/export?format=html`);
  await Deno.writeTextFile(path, await answer.text());
  await using tab = await open(`file://${path}`);
  const { page } = tab;
  await page.getByRole("link", { name: "Grades", exact: true }).click();
  await page.getByText("16 grades of 8 turns by 2 people").waitFor();
  await page.getByRole("heading", { name: "Judge against people" }).waitFor();
  await checkAccessibility(page);
  await page.getByRole("link", { name: "Scores", exact: true }).click();
  await page.getByText(/^Of the spread of overall, \d+ % is between scenarios/).waitFor();
  await page.getByText(/^At most \d+ scenarios like these would show a difference of 0\.1 to/)
    .waitFor();
  await checkAccessibility(page);
  await page.getByRole("link", { name: "Replies", exact: true }).click();
  await page.getByLabel("Search messages, replies and references").fill("4711");
  await page.locator(".turn-rows a.name", { hasText: "order-status, turn 1, attempt 1" }).click();
  await gradesOf(page).locator(".reasons").getByText("Ann").first().waitFor();
  assertEquals(await page.getByRole("form", { name: "Grade this turn" }).count(), 0);
});

suite.test(
  "a name that begins with another person's does not take over that person's grade",
  async (fixture, open) => {
    const place = "2/1/0";
    await fixture.grade(fixture.fresh, place, { value: 1, author: "Ann", comment: "Ann's words" });
    await using tab = await open(`${fixture.url}/ui/runs/${fixture.fresh}?turn=${place}`);
    const { page } = tab;
    const section = gradesOf(page);
    const name = section.getByLabel("Your name");
    const comment = section.getByLabel("Comment");
    await name.pressSequentially("Ann");
    assertEquals(await comment.inputValue(), "Ann's words");
    await name.pressSequentially("abel");
    assertEquals(await comment.inputValue(), "");
    await section.getByRole("button", { name: "mostly wrong" }).click();
    await comment.fill("not the same at all");
    await name.fill("Ann");
    await name.pressSequentially("abel");
    await section.getByRole("button", { name: "Save the grade" }).click();
    await section.locator(".reasons").getByText("not the same at all").waitFor();
    const { grades } =
      await (await fetch(`${fixture.url}/runs/${fixture.fresh}/turns/${place}/grades`)).json();
    assertEquals(
      grades.map(({ author, value }: { author: string; value: number }) => [author, value]),
      [["Ann", 1], ["Annabel", 0.25]],
    );
  },
);
