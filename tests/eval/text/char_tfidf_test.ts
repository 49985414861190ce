import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { createCharTfIdf } from "../../../eval/text/char_tfidf.ts";

Deno.test("a text is weighed once up to 20,000 characters, and a longer one is not kept", async () => {
  const weigh = await createCharTfIdf(["some text"]);
  const [short, long] = ["a".repeat(20_000), "a".repeat(20_001)];
  assertStrictEquals(weigh(short), weigh(short));
  assert(weigh(long) !== weigh(long));
  assertEquals(weigh(long), weigh(long));
});
