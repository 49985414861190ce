import { assertAlmostEquals, assertNotEquals } from "@std/assert";
import { createLabelGrams } from "../../../../eval/assess/metadata/label_grams.ts";
import { createLabelVectors } from "../../../../eval/assess/metadata/label_vectors.ts";
import { createCharTfIdf } from "../../../../eval/assess/text/char_tfidf.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";

const TEXTS = ["the refund reaches the card", "a refund takes days", "money back to the card"];
const REPLY = "a refund to the card takes days";
const without = (left: number) => TEXTS.filter((_, at) => at !== left);
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

Deno.test("leaving an example out is as if it had never been there, by vectors", async () => {
  const { embedder } = fakeEmbedder();
  const words = "money";
  const reply = await embedder.embed(REPLY);
  const all = await createLabelVectors({ texts: TEXTS, words }, embedder);
  const less = await Promise.all(TEXTS.map(async (_, left) => {
    const label = await createLabelVectors({ texts: without(left), words }, embedder);
    return label.nearness(reply);
  }));
  for (const left of TEXTS.keys()) {
    assertAlmostEquals(all.evenNearness(reply, left), less[left]!, 1e-5);
  }
  assertAlmostEquals(all.evenNearness(reply, undefined), mean(less), 1e-5);
  assertNotEquals(all.evenNearness(reply, 1), all.nearness(reply));
  const one = await createLabelVectors({ texts: [REPLY], words }, embedder);
  assertAlmostEquals(one.evenNearness(reply, 0), one.nearness(reply), 1e-9);
});

Deno.test("leaving an example out is as if it had never been there, by characters", async () => {
  const weigh = await createCharTfIdf(TEXTS);
  const reply = weigh(REPLY);
  const all = createLabelGrams(TEXTS, weigh);
  const less = TEXTS.map((_, left) => createLabelGrams(without(left), weigh).nearness(reply));
  for (const left of TEXTS.keys()) {
    assertAlmostEquals(all.evenNearness(reply, left), less[left]!, 1e-9);
  }
  assertAlmostEquals(all.evenNearness(reply, undefined), mean(less), 1e-9);
  assertNotEquals(all.evenNearness(reply, 1), all.nearness(reply));
  const one = createLabelGrams([REPLY], weigh);
  assertAlmostEquals(one.evenNearness(reply, 0), one.nearness(reply), 1e-9);
});

Deno.test("two examples of one text count as two when one of them is left out", async () => {
  const { embedder } = fakeEmbedder();
  const reply = await embedder.embed(REPLY);
  const label = await createLabelVectors({ texts: [REPLY, REPLY, TEXTS[0]!], words: "" }, embedder);
  const less = await createLabelVectors({ texts: [REPLY, TEXTS[0]!], words: "" }, embedder);
  assertAlmostEquals(label.evenNearness(reply, 0), less.nearness(reply), 1e-5);
});
