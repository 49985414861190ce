import { assertEquals } from "@std/assert";
import { createContentChecks } from "../../eval/assess/checks/content_checks.ts";
import type { FieldError } from "../../shared/errors.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  scenarioBody,
} from "../fakes/eval_service.ts";
import { scoringPorts } from "../fakes/scoring_ports.ts";

const REFUSED: [string, unknown, string][] = [
  ["an unknown type", [{ type: "matches", value: "x" }], "checks.0.type"],
  ["a negative weight", [{ type: "contains", value: "x", weight: -1 }], "checks.0.weight"],
  ["a misspelt field", [{ type: "contains", value: "x", requried: true }], "checks.0"],
  ["an invalid pattern", [{ type: "regex", value: "(" }], "checks.0.value"],
  ["an invalid schema", [{ type: "json", value: { type: "strin" } }], "checks.0.value"],
  ["an unknown language", [{ type: "language", value: "tlh" }], "checks.0.value"],
  ["a judge without a judge", [{ type: "judge", value: "polite" }], "checks.0"],
  ["a similar without a text", [{ type: "similar" }], "checks.0"],
  ["a limit below 0", [{ type: "max_chars", value: -1 }], "checks.0.value"],
  ["no list", { type: "contains", value: "x" }, "checks"],
  [
    "more than 200",
    Array.from({ length: 201 }, () => ({ type: "contains", value: "x" })),
    "checks",
  ],
];

Deno.test("a bad check is a 400 that names its path, and nothing is asked", async (t) => {
  using checks = createContentChecks();
  const { service, asked } = evalService(() => "Yes", { scoring: scoringPorts({ checks }) });
  const refuse = async (body: unknown): Promise<FieldError[]> => {
    const response = await service(evaluateRequestOf(body));
    assertEquals(response.status, 400);
    const problem = await response.json();
    assertEquals(problem.code, "invalid_request");
    return problem.errors;
  };
  for (const [name, bad, path] of REFUSED) {
    await t.step(name, async () => {
      const one = await refuse(scenarioBody([{ checks: bad }]));
      assertEquals(one.map((error) => error.path)[0], `test_batch.interactions.0.${path}`);
    });
  }
  await t.step("a similar whose reference is empty", async () => {
    const [error] = await refuse(
      scenarioBody([{ reference_reply: "", checks: [{ type: "similar" }] }]),
    );
    assertEquals(error!.path, "test_batch.interactions.0.checks.0");
  });
  await t.step("in a list of scenarios, and in a scenario", async () => {
    const scenario = {
      id: "s",
      interactions: [{ id: "1", user_message: "Hi" }],
      conversation_checks: [{ type: "contains", value: "x" }, { type: "regex", value: "(" }],
    };
    const errors = await refuse(evaluateBody({ test_batch: [scenario, scenario] }));
    assertEquals(errors.map(({ path }) => path), [
      "test_batch.0.conversation_checks.1.value",
      "test_batch.1.conversation_checks.1.value",
    ]);
  });
  await t.step("a schema that is too large, and schemas that are so together", async () => {
    const json = (characters: number) => ({
      type: "json",
      value: { description: "x".repeat(characters) },
    });
    const [one] = await refuse(scenarioBody([{ checks: [json(10), json(64_001)] }]));
    assertEquals(one, {
      path: "test_batch.interactions.0.checks.1.value",
      message: "must have at most 64,000 characters",
    });
    const [all] = await refuse(scenarioBody([{ checks: new Array(5).fill(json(60_000)) }]));
    assertEquals(all, {
      path: "test_batch.interactions.0.checks",
      message: "must have at most 256,000 characters in all their schemas",
    });
  });
  await t.step("more than 200 together with the scenario's", async () => {
    const some = Array.from({ length: 150 }, () => ({ type: "contains", value: "x" }));
    const errors = await refuse(scenarioBody([{ checks: some }], { checks: some }));
    assertEquals(errors[0]!.path, "test_batch.interactions.0");
  });
  assertEquals(asked, []);
});
