import { assert, assertEquals } from "@std/assert";
import { createBatchSemantics } from "../../../../eval/assess/batch_semantics.ts";
import { createDialogueActAnnotator } from "../../../../eval/assess/metadata/dialogue_act.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";

function createAnnotator(label: unknown) {
  const { embedder } = fakeEmbedder();
  const batch = [scenario("s", [interaction("i")])];
  const semantics = createBatchSemantics(batch, { embedder });
  return createDialogueActAnnotator(label, semantics);
}

function annotate(label: string, text: string) {
  return createAnnotator(label)!.annotate({ text, interaction: interaction("i") });
}

/** `undefined`: the rules must not say anything. */
const CASES: [label: string, text: string, value: string | undefined][] = [
  ["greeting", "Hello! How can I help you today?", "greeting"],
  ["greeting", "Good morning, what can I do for you?", "greeting"],
  ["farewell", "Goodbye, and take care!", "farewell"],
  ["thanks", "Thank you for waiting.", "thanks"],
  ["apology", "I'm sorry for the delay.", "apology"],
  ["apology", "I'm sorry, I can't do that.", "apology"],
  ["refusal", "I'm sorry, I can't do that.", "refusal"],
  ["refusal", "We are unable to refund this order.", "refusal"],
  ["confirmation", "Yes, your order is confirmed.", "confirmation"],
  ["question", "Which colour would you like?", "question"],
  ["Greet", "Hello there!", "Greet"],
  // Something else, and clearly so.
  ["greeting", "Goodbye, see you tomorrow.", "farewell"],
  ["farewell", "Which colour would you like?", "question"],
  ["thanks", "We cannot refund this order.", "refusal"],
  // Most refusals and many greetings follow no rule.
  ["refusal", "That is outside of our delivery area.", undefined],
  ["greeting", "City library, Sam speaking.", undefined],
  ["greeting", "Thanks for calling the library, hello!", undefined],
  ["question", "I need your order number.", undefined],
  ["greeting", "…", undefined],
];

for (const [label, text, value] of CASES) {
  Deno.test(`if ${label} is expected, "${text}" is ${value ?? "not labelled"}`, async () => {
    const found = await annotate(label, text);
    assertEquals(found.value, value);
    assertEquals(found.confidence, value === undefined ? null : 0.9);
    assertEquals(found.reason === undefined, value !== undefined);
  });
}

Deno.test("there are no rules for labels that are no acts, nor for any statement", () => {
  for (const label of ["order_status", "statement", "inform", 7]) {
    assertEquals(createAnnotator(label), undefined);
  }
});

Deno.test("the rules are English and say nothing of other languages", async () => {
  const { value, reason } = await annotate("greeting", "Schönen guten Tag");
  assertEquals([value, reason], [undefined, "the reply is not English"]);
});

Deno.test("a reference in which the rules do not find its label counts against them", async () => {
  const annotator = createAnnotator("greeting")!;
  const relabel = (text: string) =>
    annotator.relabel({ text, label: "greeting", interaction: interaction("i") });
  assertEquals(await relabel("Hello, what can I do?"), "greeting");
  assert(await relabel("Goodbye!") !== "greeting");
  assertEquals(await relabel("City library, Sam speaking."), undefined);
});
