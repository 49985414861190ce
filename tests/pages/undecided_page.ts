import { pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(() =>
  startEvalFixture({ environment: { JUDGE_BASE_URL: "http://127.0.0.1:1" } })
);

suite.test("scenarios that nobody can decide are not shown as failed", async (fixture, open) => {
  const interactions = [{ id: "1", user_message: "Hi", reference_reply: "Please tell me more." }];
  const run = await fixture.evaluate({
    attempts: 1,
    test_batch: [{ id: "open", interactions }],
    pass_threshold: 0.5,
  });
  await using tab = await open(`${fixture.url}/ui/runs/${run}`);
  const { page } = tab;
  await page.getByText("There is no score").waitFor();
  await page.getByText(/^The judge is missing: /).waitFor();
  await page.getByRole("link", { name: "Scenarios", exact: true }).click();
  await page.getByRole("link", { name: "Attempt 1: not known" }).waitFor();
  await page.getByText("?: a score is missing").waitFor();
});
