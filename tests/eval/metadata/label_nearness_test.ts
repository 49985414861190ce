import { assertAlmostEquals, assertNotEquals } from "@std/assert";
import { createLabelGrams } from "../../../eval/metadata/label_grams.ts";
import { createLabelVectors } from "../../../eval/metadata/label_vectors.ts";
import { createCharTfIdf } from "../../../eval/text/char_tfidf.ts";
import { fakeEmbedder } from "../../fakes/scoring_ports.ts";

const TEXTS = ["the refund reaches the card", "a refund takes days", "money back to the card"];
const WITHOUT_SECOND = [TEXTS[0]!, TEXTS[2]!];
const REPLY = "a refund to the card takes days";

Deno.test("leaving an example out is as if it had never been there, by vectors", async () => {
  const { embedder } = fakeEmbedder();
  const words = "money";
  const all = await createLabelVectors({ texts: TEXTS, words }, embedder);
  const less = await createLabelVectors({ texts: WITHOUT_SECOND, words }, embedder);
  const reply = await embedder.embed(REPLY);
  assertAlmostEquals(all.nearness(reply, 1), less.nearness(reply, undefined), 1e-5);
  assertNotEquals(all.nearness(reply, 1), all.nearness(reply, undefined));
});

Deno.test("leaving an example out is as if it had never been there, by characters", async () => {
  const weigh = await createCharTfIdf(TEXTS);
  const all = createLabelGrams(TEXTS, weigh);
  const less = createLabelGrams(WITHOUT_SECOND, weigh);
  const reply = weigh(REPLY);
  assertAlmostEquals(all.nearness(reply, 1), less.nearness(reply, undefined), 1e-9);
  assertNotEquals(all.nearness(reply, 1), all.nearness(reply, undefined));
});
