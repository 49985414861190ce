import { assert, assertAlmostEquals, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { createCharTfIdf, gramCosine } from "../../../../eval/assess/text/char_tfidf.ts";

Deno.test("a text is weighed once up to 20,000 characters, and a longer one is not kept", async () => {
  const weigh = await createCharTfIdf(["some text"]);
  const [short, long] = ["a".repeat(20_000), "a".repeat(20_001)];
  assertStrictEquals(weigh(short), weigh(short));
  assert(weigh(long) !== weigh(long));
  assertEquals(weigh(long), weigh(long));
});

/** By the definition: every n-gram a string. */
function plainCosine(collection: string[], left: string, right: string): number {
  const grams = (text: string) => {
    const line = ` ${text.normalize("NFKC").toLowerCase().trim().replace(/\s+/gu, " ")} `;
    return [2, 3, 4].flatMap((order) =>
      line.split("").slice(order - 1).map((_, i) => line.slice(i, i + order))
    );
  };
  const known = collection.map((text) => new Set(grams(text)));
  const rarity = (gram: string) =>
    Math.log((1 + known.length) / (1 + known.filter((text) => text.has(gram)).length)) + 1;
  const weight = (text: string, gram: string) =>
    grams(text).filter((other) => other === gram).length * rarity(gram);
  const product = (one: string, other: string) =>
    [...new Set(grams(one))].reduce(
      (sum, gram) => sum + weight(one, gram) * weight(other, gram),
      0,
    );
  const length = Math.sqrt(product(left, left) * product(right, right));
  return length === 0 ? 0 : Math.min(1, product(left, right) / length);
}

Deno.test("the cosine is that of the definition, with n-grams that the collection does not have", async () => {
  const word = fc.constantFrom(
    "the",
    "card",
    "Refund",
    "您的订单",
    "👍🏽",
    "\ud800",
    "ﬁne",
    " ",
    "a",
  );
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
  const collection = fc.array(text, { maxLength: 4 });
  await fc.assert(fc.asyncProperty(collection, text, text, async (texts, left, right) => {
    const weigh = await createCharTfIdf(texts);
    const found = gramCosine(weigh(left), weigh(right));
    assertAlmostEquals(found, plainCosine(texts, left, right), 1e-12);
  }));
});
