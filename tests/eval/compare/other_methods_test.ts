import { assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { describeComparison } from "../../../eval/export/text/comparison_text.ts";
import { markdownForm } from "../../../eval/export/formats/markdown.ts";
import {
  compare,
  graded,
  judge,
  meanings,
  type Result,
  run,
  turn,
} from "../../fakes/judged_turns.ts";
import { recordedRun, type RecordedScenario } from "../../fakes/recorded_run.ts";

Deno.test("meanings by two methods are not compared, and it is said", async () => {
  const local = meanings.map((meaning) => turn(meaning, { grade: 0.4 }));
  const endpoint = meanings.map((meaning) =>
    turn(meaning - 0.3, { grade: 0.4, method: "text-embedding-3" })
  );
  const comparison = await compare(run(local), run(endpoint));
  assertEquals(Object.keys(comparison.scores), ["overall", "judge"]);
  assertEquals(comparison.verdict, "inconclusive");
  assertEquals(comparison.left_out, [{
    score: "semantic_similarity",
    turns: 12,
    reason: "other_method",
    detail: "use+stems / text-embedding-3",
  }]);
  const text = describeComparison({ baseline: "b", result: comparison }, markdownForm);
  assertStringIncludes(
    text,
    "Not compared: `semantic_similarity` at 12 turns, the runs computed it by different methods " +
      "(`use+stems / text-embedding-3`)",
  );
});

Deno.test("an attempt by another method than the others is missing, not mixed in", async () => {
  const attempts = (...results: Result[]): RecordedScenario[] => [["s", [["t", ...results]]]];
  const { scores } = await compare(
    attempts(turn(0.8), turn(0.8), turn(0.1, { method: "char_tfidf" })),
    attempts(turn(0.8), turn(0.8), turn(0.8)),
  );
  const [low, high] = scores.semantic_similarity!.bounds!.baseline;
  assertAlmostEquals(low, 1.6 / 3);
  assertAlmostEquals(high, 2.6 / 3);
  assertEquals(scores.semantic_similarity!.missing, { baseline: 1, candidate: 0 });
});

Deno.test("grades by two judges, or by two rubrics, are not compared", async () => {
  const other = graded.map((result) => ({ ...result, judge: judge(0.4, "judge-2") }));
  assertEquals((await compare(run(graded), run(other))).left_out[0]!.reason, "other_method");
  const { left_out } = await compareRuns({
    baseline: { ...recordedRun(run(graded)), rubric: "Be polite." },
    candidate: { ...recordedRun(run(graded)), rubric: "Be short." },
  });
  assertEquals(left_out.map(({ score, reason }) => [score, reason]), [["judge", "other_method"]]);
});

Deno.test("checks and labels that two judges decided, or two endpoints, are not compared", async () => {
  const labelled = (method: string): Result => ({
    scores: { intent_match: 1, metadata_match: 1 },
    reference_metadata: { intent: "greet" },
    annotation: { method, confidence: 1, keys: { intent: { method, confidence: 1 } } },
  });
  const checked = (type: string): Result => ({
    scores: { checks: 1 },
    check_results: [{ name: "c", type, value: 1, weight: 1, required: false }],
  });
  const one = { judge: "judge-1", embeddings: "endpoint_embeddings:e1" };
  const cases: [result: Result, other: typeof one, leftOut: string[]][] = [
    [checked("judge"), { ...one, judge: "judge-2" }, ["checks"]],
    [checked("judge"), { ...one, embeddings: "e2" }, []],
    [checked("similar"), { ...one, embeddings: "e2" }, ["checks"]],
    [checked("contains"), { judge: "judge-2", embeddings: "e2" }, []],
    [labelled("judge"), { ...one, judge: "judge-2" }, ["intent_match", "metadata_match"]],
    [labelled("few_shot"), { ...one, embeddings: "e2" }, ["intent_match", "metadata_match"]],
    [labelled("few_shot_tfidf"), { judge: "judge-2", embeddings: "e2" }, []],
  ];
  for (const [result, scoredBy, expected] of cases) {
    const { left_out } = await compareRuns({
      baseline: { ...recordedRun(run([result])), scoredBy: one },
      candidate: { ...recordedRun(run([result])), scoredBy },
    });
    assertEquals(left_out.map(({ score }) => score).sort(), expected);
  }
});

Deno.test("an empty reply counts by whatever method: a model that falls silent regresses", async () => {
  const silent = meanings.map(() => turn(0, { method: "empty" }));
  const { verdict } = await compare(run(meanings.map((meaning) => turn(meaning))), run(silent));
  assertEquals(verdict, "regressed");
});

Deno.test("a reply with the reference's text counts by whatever method its label is read", async () => {
  const labelled = (match: number, method: string): Result => ({
    scores: { intent_match: match, metadata_match: match, overall: match },
    reference_metadata: { intent: "greet" },
    annotation: { method, confidence: 1, keys: { intent: { method, confidence: 1 } } },
  });
  const attempts = (...results: Result[]): RecordedScenario[] => [["s", [["t", ...results]]]];
  const { scores, left_out } = await compare(
    attempts(labelled(0, "judge"), labelled(1, "judge")),
    attempts(labelled(0, "judge"), labelled(1, "same_text"), labelled(1, "same_text")),
  );
  assertEquals(left_out, []);
  for (const score of ["intent_match", "metadata_match", "overall"]) {
    assertEquals(scores[score]!.baseline, 0.5);
    assertAlmostEquals(scores[score]!.candidate!, 2 / 3);
    assertEquals(scores[score]!.missing, undefined);
  }
});
