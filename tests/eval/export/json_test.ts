import { assertEquals } from "@std/assert";
import { json } from "../../../eval/export/formats/json.ts";
import { EvaluateResponse } from "../../../eval/schemas/evaluate_response.ts";
import { failedTurn, storedRun, textOf } from "../../fakes/stored_run.ts";

Deno.test("the JSON export has the shape of an answer, with every attempt in its place", async () => {
  const source = storedRun([["first", [[{}, failedTurn], [{}, {}]]], ["second", [[{}], [{}]]]]);
  const result = EvaluateResponse.parse(JSON.parse(await textOf(json.write(source))));
  assertEquals(result.message, "Evaluation completed: 1 of 6 interactions failed");
  const [first, second] = result.results.scenarios;
  assertEquals(first!.attempts.map(({ interactions }) => interactions.length), [2, 2]);
  assertEquals(first!.attempts[0]!.average_scores, { overall: 0.45 });
  assertEquals([second!.scenario_id, second!.attempts.length], ["second", 2]);
});

Deno.test("a run that ended early does not say that it is complete", async () => {
  const source = storedRun([["s", [[{}]]]], { status: "cancelled", totalTurns: 10 });
  const { message } = JSON.parse(await textOf(json.write(source)));
  assertEquals(message, "Evaluation cancelled: 1 of 10 interactions completed");
});
