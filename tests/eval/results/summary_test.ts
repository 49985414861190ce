import { assertEquals } from "@std/assert";
import { finish } from "../../../eval/results/steps.ts";
import { createTotals, summariseRun } from "../../../eval/results/summary.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";
import {
  summariseAttempt,
  summariseScenario,
  summariseScenarios,
} from "../../fakes/whole_results.ts";

Deno.test("an attempt's average counts its failed turns as 0, and its time is that of its turns", () => {
  const attempt = summariseAttempt(2, [
    storedTurn([0, 2, 0], { scores: { overall: 1 } }),
    storedTurn([0, 2, 1], { scores: { overall: 0 }, error: failure }),
  ]);
  assertEquals(attempt.attempt_id, 3);
  assertEquals(attempt.average_scores, { overall: 0.5 });
  assertEquals(attempt.execution_time_ms, 14);
});

Deno.test("a scenario counts its attempts alike, and a run its scenarios", () => {
  const attempt = (overall: number) =>
    summariseAttempt(0, [storedTurn([0, 0, 0], { scores: { overall } })]);
  const one = summariseScenario(scenario("one", [interaction("i")]), [attempt(1), attempt(0)]);
  const two = summariseScenario(scenario("two", [interaction("i")]), [attempt(1)]);
  assertEquals([one.scenario_id, one.average_scores], ["one", { overall: 0.5 }]);
  const { average_scores, statistics } = summariseScenarios([one, two]);
  assertEquals(average_scores, { overall: 0.75 });
  // Two scenarios, 0.5 and 1: s = 0.354, and a standard error of 0.25.
  assertEquals([statistics.overall!.n, statistics.overall!.stderr], [2, 0.25]);
});

Deno.test("a run counts what is missing, by which methods it was scored and in what replies differ", () => {
  const turns = [
    { score_methods: { semantic_similarity: "a" }, differs_in: ["number"] },
    { score_methods: { semantic_similarity: "b" }, differs_in: ["number", "date"] },
    { missing_scores: { judge: "judge_unavailable", overall: "without judge" } },
    { missing_scores: { judge: "judge_unavailable", overall: "without judge" } },
    { missing_scores: { judge: "judge_unreadable", overall: "without judge" } },
  ];
  const totals = createTotals();
  turns.forEach(totals.addTurn);
  const { missing_scores, score_methods, differs_in } = finish(totals.closeInSteps());
  assertEquals(missing_scores, [
    { score: "overall", reason: "without judge", turns: 3 },
    { score: "judge", reason: "judge_unavailable", turns: 2 },
    { score: "judge", reason: "judge_unreadable", turns: 1 },
  ]);
  assertEquals(score_methods, { semantic_similarity: { a: 1, b: 1 } });
  assertEquals(differs_in, { number: 2, date: 1 });
});

Deno.test("a caller's own fields come back, and cannot replace ours", () => {
  const request = evaluateRequest({
    ...{ ticket: "T-1", message: "mine", run_id: "mine", results: "mine" },
  });
  const heading = summariseRun(request, {
    runId: "r",
    testName: "t",
    done: 4,
    failed: 1,
    missing: 0,
  });
  assertEquals(
    heading,
    {
      message: "Evaluation completed: 1 of 4 interactions failed",
      run_id: "r",
      test_name: "t",
      notes: [],
      endpoint: "http://127.0.0.1:9/v1",
      model_id: "a/model",
      ticket: "T-1",
    } as typeof heading,
  );
});
