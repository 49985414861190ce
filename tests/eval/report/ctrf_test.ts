import { assertEquals, assertStringIncludes } from "@std/assert";
import { validateStrict } from "npm:ctrf@0.3.0";
import { ctrf } from "../../../eval/report/formats/ctrf.ts";
import { failedTurn, storedRun, type StoredScenario, textOf } from "../../fakes/stored_run.ts";

const below = { scores: { overall: 0.1 }, agent_reply: "wrong" };
const BATCH: StoredScenario[] = [
  ["always", [[{}], [{}]]],
  ["sometimes", [[{}, below], [{}, {}]]],
  ["never", [[below], [failedTurn]]],
  ["unscored", [[{ scores: { overall: null } }]]],
];

Deno.test("a CTRF report has a test per scenario, and one that passes only sometimes is flaky", async () => {
  const report = JSON.parse(await textOf(ctrf.write(storedRun(BATCH))));
  validateStrict(report);
  const { summary, tests } = report.results;
  assertEquals(
    [summary.tests, summary.passed, summary.failed, summary.skipped, summary.flaky],
    [4, 2, 1, 1, 1],
  );
  assertEquals(
    tests.map(({ name, status, flaky }) => [name, status, flaky]),
    [
      ["always", "passed", false],
      ["sometimes", "passed", true],
      ["never", "failed", false],
      ["unscored", "skipped", false],
    ],
  );
  assertStringIncludes(tests[1]!.message!, "turn 2 (t2): ");
});

Deno.test("a run that ended early has a test that failed", async () => {
  const source = storedRun(BATCH);
  const run = { ...source.run, status: "cancelled" as const };
  const report = JSON.parse(await textOf(ctrf.write({ ...source, run })));
  validateStrict(report);
  assertEquals(report.results.tests.at(-1)?.message, "it is cancelled");
});
