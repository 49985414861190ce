import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { isRegression } from "../../../eval/compare/verdict.ts";
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

Deno.test("a verdict that unanswered calls could change is inconclusive, and says so", async () => {
  const comparison = await compare(good, failing(good, 10));
  const score = comparison.scores.overall!;
  assertEquals([comparison.verdict, comparison.verdict_as_counted], ["inconclusive", "regressed"]);
  assertEquals(score.failed, { baseline: 0, candidate: 10 });
  const [low, high] = score.error_bounds!;
  assert(low === score.difference && high > 0, `${low} to ${high}`);
  assert(score.ci95![0] < low && high < score.ci95![1], "the interval covers both");
  assertStringIncludes(
    comparison.reason!,
    "is p if unanswered calls count 0 (0 in the baseline, 10 in the candidate), but their " +
      "answers could change the verdict",
  );
  const text = describeComparison({ baseline: "b", result: comparison }, markdownForm);
  assertStringIncludes(text, "0 calls of the baseline and 10 of the candidate were not answered");
  assertStringIncludes(text, "inconclusive; regressed if unanswered calls count 0\n");
  assert(isRegression(comparison), "a build fails for it");
});

Deno.test("a verdict that unanswered calls could not change stands", async () => {
  const bad = good.map((value) => value - 0.5);
  const { verdict, verdict_as_counted, scores } = await compare(good, failing(bad, 1));
  assertEquals([verdict, verdict_as_counted], ["regressed", undefined]);
  const [low, high] = scores.overall!.error_bounds!;
  assert(low === scores.overall!.difference && low < high && high < 0);
});

Deno.test("unanswered calls of the baseline do not make the candidate better", async () => {
  const comparison = await compare(failing(good, 10), good);
  assertEquals([comparison.verdict, comparison.verdict_as_counted], ["inconclusive", "improved"]);
  assert(!isRegression(comparison));
});

for (const code of ["empty_reply", "tool_calls_only"]) {
  Deno.test(`an answer without a text is a fact: a model that sends it regresses (${code})`, async () => {
    const silent = { scores: { overall: 0 }, error: { code, status: 200, detail: "" } };
    const { verdict, scores } = await compare(good, good.map(() => silent));
    assertEquals(verdict, "regressed");
    assertEquals([scores.overall!.candidate, scores.overall!.failed], [0, undefined]);
  });
}

Deno.test("without a failed call the comparison has none of these fields", async () => {
  const comparison = await compare(good, good.map((value) => value - 0.5));
  assert(!("verdict_as_counted" in comparison));
  for (const field of ["failed", "error_bounds"]) {
    assert(!(field in comparison.scores.overall!), field);
  }
});
