import { assertEquals } from "@std/assert";
import { createLabelCounter } from "../../../eval/results/labels.ts";
import { finish } from "../../../eval/results/steps.ts";
import type { AttemptResult } from "../../../eval/schemas/evaluate_response.ts";
import type { InteractionResult } from "../../../eval/schemas/interaction_result.ts";
import { interaction } from "../../fakes/eval_ports.ts";

function turn(expected: unknown, found: unknown, failed = false): InteractionResult {
  return {
    ...interaction("t", { reference_metadata: { intent: expected } }),
    reference_reply: "",
    generated_metadata: found === undefined ? {} : { intent: found },
    scores: {},
    latency_ms: 0,
    usage: null,
    ...(failed && { error: { code: "provider_error", status: 500, detail: "" } }),
  };
}

/** The labels of some scenarios, each from the turns of its attempts. */
function report(...scenarios: InteractionResult[][][]) {
  const counter = createLabelCounter();
  for (const attempts of scenarios) finish(counter.addInSteps(attempts.map(toAttempt)));
  return counter.report();
}

function toAttempt(interactions: InteractionResult[]): AttemptResult {
  return { attempt_id: 1, interactions, average_scores: {}, statistics: {}, execution_time_ms: 0 };
}

Deno.test("a confusion matrix counts the labels found for each expected one, over all attempts", () => {
  const labels = report([
    [turn("greet", "Greet "), turn("thank", "greet")],
    [turn("greet", "greet"), turn("thank", undefined)],
    [turn("greet", "thank"), turn("thank", undefined, true)],
  ]);
  assertEquals(labels.intent!.confusion, {
    greet: { greet: 2, thank: 1 },
    thank: { greet: 1, "(none)": 1, "(failed)": 1 },
  });
});

Deno.test("the flip rate is the share of pairs of attempts that disagree, computed by hand", () => {
  // Turn 1: greet, greet, thank: 2 of 3 pairs differ. Turn 2: greet, none: 1 of 1. 3 of 4.
  const labels = report([
    [turn("greet", "greet"), turn("thank", "greet")],
    [turn("greet", "greet"), turn("thank", undefined)],
    [turn("greet", "thank"), turn("thank", undefined, true)],
  ]);
  assertEquals(labels.intent!.flip_rate, 0.75);
});

Deno.test("one attempt has nothing to flip", () => {
  assertEquals(report([[turn("greet", "greet")]]).intent!.flip_rate, null);
});

Deno.test("a label may have the name of a built-in property", () => {
  const { confusion } = report([[turn("constructor", "__proto__")]]).intent!;
  assertEquals(Object.entries(confusion.constructor!), [["__proto__", 1]]);
});

Deno.test("the labels of a run are those of its scenarios together", () => {
  const labels = report(
    [[turn("greet", "greet")], [turn("greet", "thank")]],
    [[turn("thank", "thank")], [turn("thank", "thank")]],
  );
  assertEquals(labels.intent!.confusion, { greet: { greet: 1, thank: 1 }, thank: { thank: 2 } });
  assertEquals(labels.intent!.flip_rate, 0.5);
});

Deno.test("an attempt that lacks its last turns has no say about them", () => {
  const labels = report([[turn("greet", "greet"), turn("thank", "thank")], [
    turn("greet", "greet"),
  ]]);
  assertEquals(labels.intent!.confusion, { greet: { greet: 2 }, thank: { thank: 1 } });
  assertEquals(labels.intent!.flip_rate, 0);
});

Deno.test("labels that match share a name, however they are written", () => {
  const numbers = report([[turn("5.0", 5)], [turn(5, "5")]]);
  assertEquals(numbers.intent!.confusion, { 5: { 5: 2 } });
  assertEquals(numbers.intent!.flip_rate, 0);
  const composed = report([[turn("caf\u00e9", "cafe\u0301")]]);
  assertEquals(composed.intent!.confusion, { "caf\u00e9": { "caf\u00e9": 1 } });
});

Deno.test("a key with the name of a built-in property is not found by accident", () => {
  const one = { ...turn("x", undefined), reference_metadata: { constructor: "x" } };
  assertEquals(report([[one]]).constructor as unknown, {
    confusion: { x: { "(none)": 1 } },
    flip_rate: null,
  });
});

Deno.test("the report has the self-check of a key, which the turns carry", () => {
  const check = { right: 3, of: 4, accuracy: 0.75, floor: 0.75 };
  const note = { method: "few_shot", confidence: 0.9 };
  const keys = { intent: { ...note, self_check: check } };
  const told = { ...turn("greet", "greet"), annotation: { ...note, keys } };
  const failed = turn("greet", undefined, true);
  const labels = report([[failed, told]], [[turn("greet", "greet")]]);
  assertEquals(labels.intent!.self_check, check);
  assertEquals("self_check" in report([[failed]]).intent!, false);
});
