import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { decideVerdict, regressedScores } from "../../../eval/compare/verdict.ts";
import { describeComparison } from "../../../eval/export/text/comparison_text.ts";
import { markdownForm } from "../../../eval/export/formats/markdown.ts";
import { recordedRun, type RecordedScore } from "../../fakes/recorded_run.ts";

const run = (values: RecordedScore[]) =>
  recordedRun(values.map((value, index) => [`s${index}`, [["t", value]]]));

const compare = async (baseline: RecordedScore[], candidate: RecordedScore[]) =>
  await compareRuns({ baseline: run(baseline), candidate: run(candidate) });

const good = Array.from({ length: 20 }, (_, index) => 0.7 + index / 100);
const failing = (from: RecordedScore[], count: number): RecordedScore[] =>
  from.map((value, index) => index < count ? "failed" : value);

Deno.test("a verdict that failed calls could change is inconclusive, and says so", async () => {
  const comparison = await compare(good, failing(good, 10));
  const score = comparison.scores.overall!;
  assert(score.p <= 0.05, "with failed calls at 0 the candidate is worse");
  assertEquals([score.verdict, score.verdict_as_counted], ["inconclusive", "regressed"]);
  assertEquals(comparison.verdict, "inconclusive");
  assertEquals(score.failed, { baseline: 0, candidate: 10 });
  const [low, high] = score.difference_error_bounds!;
  assert(low === score.difference && high > 0, `${low} to ${high}`);
  assertStringIncludes(
    score.reason!,
    "if failed calls count 0 (0 in the baseline, 10 in the candidate), but had they been " +
      "answered they could change the verdict",
  );
  const text = describeComparison({ baseline: "b", result: comparison }, markdownForm);
  assertStringIncludes(text, "0 calls of the baseline and 10 of the candidate failed; had they");
  assertStringIncludes(text, "inconclusive; regressed in `overall` if failed calls count 0\n");
});

Deno.test("a p-value that is very small is not called 0", () => {
  const { reason } = decideVerdict(good, {
    test: { p: 1e-5, pOfScenarios: 1e-5, pOfAttempts: null, interval: null, isExact: false },
    worstP: 1e-5,
    worstPIfAnswered: 0.0504,
    p_adjusted: 0.0504,
    pAsCounted: 1e-5,
    level: 0.05,
    looked: 1,
    what: "score",
    missing: { baseline: 0, candidate: 0 },
    failed: { baseline: 0, candidate: 16 },
  });
  assertStringIncludes(reason!, "p is below 0.0001 if failed calls count 0");
});

Deno.test("no number of scenarios is said to show a difference that failed calls could reverse", async () => {
  const worse = good.map((value, index) => value - (index % 2 ? 0.03 : -0.02));
  const { planning, verdict } = (await compare(good, failing(worse, 1))).scores.overall!;
  assertEquals([verdict, planning?.scenarios], ["inconclusive", null]);
  const answered = (await compare(good, worse)).scores.overall!;
  assert(answered.planning!.scenarios! > 20);
});

Deno.test("the reason names the failed calls if they alone are in the way, and not how few scenarios differ", () => {
  const evidence = {
    test: { p: 0.008, pOfScenarios: 0.008, pOfAttempts: null, interval: null, isExact: true },
    worstP: 0.008,
    worstPIfAnswered: 1,
    p_adjusted: 1,
    level: 0.0025,
    looked: 10,
    what: "score",
    missing: { baseline: 0, candidate: 0 },
    failed: { baseline: 0, candidate: 8 },
  };
  const eight = good.map((_, index) => index < 8 ? -0.5 : 0);
  const reason = (pAsCounted: number) => decideVerdict(eight, { ...evidence, pAsCounted }).reason!;
  assertStringIncludes(reason(0.04), "if failed calls count 0");
  assertStringIncludes(reason(0.08), "only 8 scenarios differ");
});

Deno.test("a verdict that failed calls could not change stands", async () => {
  const bad = good.map((value) => value - 0.5);
  const { scores } = await compare(good, failing(bad, 1));
  const { verdict, verdict_as_counted, difference, difference_error_bounds } = scores.overall!;
  assertEquals([verdict, verdict_as_counted], ["regressed", "regressed"]);
  const [low, high] = difference_error_bounds!;
  assert(low === difference && difference < high && high < 0);
});

Deno.test("failed calls of the baseline do not make the candidate better", async () => {
  const { scores } = await compare(failing(good, 10), good);
  assertEquals(scores.overall!.verdict_as_counted, "improved");
  assertEquals(scores.overall!.verdict, "inconclusive");
});

Deno.test("a score that has regressed but for what failed calls might have said counts as regressed in a build", async () => {
  const { scores } = await compare(good, failing(good, 10));
  assertEquals(regressedScores(scores), ["overall"]);
  assertEquals(regressedScores((await compare(good, good)).scores), []);
});

Deno.test("without a failed call the comparison has none of these fields", async () => {
  const { scores } = await compare(good, good.map((value) => value - 0.5));
  for (const field of ["failed", "difference_error_bounds", "verdict_as_counted"]) {
    assert(!(field in scores.overall!), field);
  }
});
