import { assertEquals } from "@std/assert";
import { createBatchSemantics } from "../../../eval/batch_semantics.ts";
import { createDialogueActAnnotator, dialogueAct } from "../../../eval/metadata/dialogue_act.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { fakeDetector, fakeEmbedder } from "../../fakes/scoring_ports.ts";

const ACTS: [text: string, act: string | undefined][] = [
  ["Hello! How can I help you today?", "greeting"],
  ["Good morning, what can I do for you?", "greeting"],
  ["Goodbye, and have a nice day!", "farewell"],
  ["Thank you for waiting.", "thanks"],
  ["I'm sorry for the delay.", "apology"],
  ["I'm sorry, I can't do that.", "refusal"],
  ["We are unable to refund this order.", "refusal"],
  ["Yes, your order is confirmed.", "confirmation"],
  ["Which colour would you like?", "question"],
  ["Your order was shipped on Monday.", "statement"],
  ["Highlights of the day are listed below.", "statement"],
  ["…", undefined],
];

for (const [text, act] of ACTS) {
  Deno.test(`"${text}" is a ${act ?? "text without an act"}`, () => {
    assertEquals(dialogueAct(text), act);
  });
}

function annotate(label: string, text: string) {
  const turn = interaction("i", { reference_metadata: { intent: label } });
  const batch = [scenario("s", [turn])];
  const { embedder } = fakeEmbedder();
  const semantics = createBatchSemantics(batch, { embedder, detector: fakeDetector });
  return createDialogueActAnnotator(batch, semantics).annotate("intent", {
    text,
    interaction: turn,
  });
}

Deno.test("an act is named as the batch names it, where it is the expected one", async () => {
  assertEquals((await annotate("Greet", "Hello there!")).value, "Greet");
  assertEquals((await annotate("Greet", "Goodbye, take care!")).value, "farewell");
});

Deno.test("a label that is no dialogue act is left open: no rule can tell", async () => {
  const { value, confidence } = await annotate("order_status", "Your order was shipped.");
  assertEquals([value, confidence], [undefined, null]);
});

Deno.test("the rules are English and say nothing of other languages", async () => {
  assertEquals((await annotate("greeting", "Schönen guten Tag")).value, undefined);
});

Deno.test("the rules are for keys with one label in the whole batch", () => {
  const turns = ["a", "b"].map((intent) =>
    interaction(intent, { reference_metadata: { intent, tone: "formal" } })
  );
  const batch = [scenario("s", turns)];
  const { embedder } = fakeEmbedder();
  const semantics = createBatchSemantics(batch, { embedder, detector: fakeDetector });
  const { handles } = createDialogueActAnnotator(batch, semantics);
  assertEquals([handles("intent"), handles("tone")], [false, true]);
});
