import { answerOf, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  for (let runs = 0; runs < 2; runs++) await fixture.evaluate({ attempts: 1 });
  return fixture;
});

suite.test("a trend has a run as soon as it has ended", async ({ url }, open) => {
  await using tab = await open(`${url}/ui/no/such/view`);
  const { page } = tab;
  let lists = 0;
  await page.route(/\/runs\?/, async (route) => {
    if (/limit=50/.test(route.request().url())) lists++; // the table, which is read again
    const list = JSON.parse((await answerOf(route)).body);
    if (lists < 3) Object.assign(list.runs[0], { status: "running", headline: null });
    await route.fulfill({ json: list });
  });
  const ofTrend = page.waitForRequest(/\/runs\?.*status=completed.*limit=100/);
  await page.goto(`${url}/?test=support`);
  await ofTrend; // a run that was stopped has only the mean of what was done
  await page.getByText("A trend needs runs of this test at two times").waitFor();
  await page.locator(".trend a").nth(1).waitFor();
  await page.locator(".trend .tick", { hasText: /\d:\d\d [AP]M$/ }).nth(1).waitFor(); // of one day
});
