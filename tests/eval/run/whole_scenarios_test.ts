import { assertEquals } from "@std/assert";
import { createWholeScenarios } from "../../../eval/run/execute/whole_scenarios.ts";
import { planOf } from "../../../eval/schemas/conversations.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";

Deno.test("a scenario is whole when all turns of all attempts are stored, both ways if there are two", () => {
  for (const [history, turns] of [["generated", 6], ["reference", 6], ["both", 10]] as const) {
    const request = evaluateRequest({ scenarios: 2, turns: 3, attempts: 2, history });
    const whole = createWholeScenarios(planOf(request));
    for (let turn = 1; turn < turns; turn++) whole.add(0);
    assertEquals(whole.count, 0, history);
    whole.add(0);
    assertEquals(whole.count, 1, history);
  }
});

Deno.test("a scenario without a turn is whole from the start", () => {
  const [scenario] = evaluateRequest().test_batch;
  const scenarios = [{ ...scenario!, interactions: [] }, scenario!];
  assertEquals(createWholeScenarios({ scenarios, attempts: 1 }).count, 1);
});
