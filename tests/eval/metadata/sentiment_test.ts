import { assert, assertEquals } from "@std/assert";
import { createBatchSemantics } from "../../../eval/batch_semantics.ts";
import { createSentimentAnnotator } from "../../../eval/metadata/sentiment.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { fakeDetector, fakeEmbedder } from "../../fakes/scoring_ports.ts";

function annotator(labels: string[]) {
  const turns = labels.map((sentiment) => interaction("i", { reference_metadata: { sentiment } }));
  const batch = [scenario("s", turns)];
  const { embedder } = fakeEmbedder();
  const semantics = createBatchSemantics(batch, { embedder, detector: fakeDetector });
  const { handles, annotate } = createSentimentAnnotator(batch, semantics);
  return {
    handles,
    read: (text: string) => annotate("sentiment", { text, interaction: turns[0]! }),
  };
}

Deno.test("a text in another language is unknown, not neutral", async () => {
  const { value, confidence } = await annotator(["neutral"]).read("Das ist völlig großartig");
  assertEquals([value, confidence], ["unknown", 0]);
});

Deno.test("a mood is spelled as the batch spells it", async () => {
  assertEquals((await annotator(["POSITIVE"]).read("That is a great idea")).value, "POSITIVE");
});

Deno.test("strong moods are told from mild ones only where the batch does", async () => {
  const text = "superb outstanding amazing";
  assertEquals((await annotator(["positive"]).read(text)).value, "positive");
  assertEquals((await annotator(["positive", "very_positive"]).read(text)).value, "very_positive");
});

Deno.test("a batch with moods of another kind is not for the lexicon", () => {
  assert(annotator(["positive", "neutral"]).handles("sentiment"));
  assert(!annotator(["positive"]).handles("intent"));
  assert(!annotator(["joy", "anger"]).handles("sentiment"));
});

Deno.test("a stronger word gives more confidence", async () => {
  const { read } = annotator(["positive"]);
  const [mild, strong] = [await read("it is fine today"), await read("superb superb superb")];
  assert(strong.confidence! > mild.confidence!);
});
