import { assertEquals } from "@std/assert";
import { evaluateRequest } from "../../eval/schemas/evaluate_request.ts";
import { Scenario } from "../../eval/schemas/scenario.ts";

const TURN = { id: "1", user_message: "Hi" };

function errorsOf(scenario: Record<string, unknown>): string[] {
  return Scenario.safeParse(scenario).error?.issues
    .map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
}

const MISSPELT: [name: string, meant: string][] = [
  ["check", "checks"],
  ["chekcs", "checks"],
  ["reference_tool", "reference_tools"],
  ["refrence_reply", "reference_reply"],
  ["Reference_Reply", "reference_reply"],
];

for (const [name, meant] of MISSPELT) {
  Deno.test(`a turn with ${name} is refused: did you mean ${meant}`, () => {
    assertEquals(errorsOf({ id: "s", interactions: [{ ...TURN, [name]: [] }] }), [
      `interactions.0.${name}: unknown field; did you mean ${meant}?`,
    ]);
  });
}

Deno.test("a misspelt field of a scenario is refused", () => {
  assertEquals(errorsOf({ id: "s", interactions: [TURN], conversation_check: [] }), [
    "conversation_check: unknown field; did you mean conversation_checks?",
  ]);
});

Deno.test("a misspelt field of a request is refused", () => {
  const body = {
    test_batch: { id: "s", interactions: [TURN] },
    endpoint: "http://localhost:1",
    model_id: "m",
    atempts: 3,
  };
  const [issue] = evaluateRequest(10).safeParse(body).error!.issues;
  assertEquals(issue!.message, "unknown field; did you mean attempts?");
});

Deno.test("other fields are the caller's own, and are kept", () => {
  const own = { _id: 1, chunks: [], tags: ["a"], reference: "x", messages: [], notes: "" };
  const { interactions: [turn] } = Scenario.parse({ id: "s", interactions: [{ ...TURN, ...own }] });
  assertEquals({ ...turn!, ...own }, turn!);
});
