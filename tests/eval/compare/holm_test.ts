import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { holm, shareOf, weighTests } from "../../../eval/compare/holm.ts";
import { createRandom } from "../../../eval/compare/random.ts";

Deno.test("p-values are corrected as R's p.adjust(method = 'holm') does", () => {
  const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
  for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) {
    assertAlmostEquals(adjusted[index]!, expected, 1e-12);
  }
});

Deno.test("a single p-value stays as it is, and none exceeds 1", () => {
  assertEquals(holm([0.04]), [0.04]);
  assertEquals(holm([0.9, 0.8]), [1, 1]);
  assertEquals(holm([]), []);
});

const MANY = ["overall", ...Array.from({ length: 16 }, (_, index) => `score_${index}`)];

Deno.test("the headline has half of the level, however many scores stand beside it", () => {
  const weights = weighTests(MANY, "overall");
  const adjusted = holm([0.011, ...Array(16).fill(0.5)], weights);
  assertAlmostEquals(adjusted[0]!, 0.022, 1e-12);
  assertEquals(adjusted[1], 1);
  // Once the headline is decided, the others have the whole level.
  assertAlmostEquals(holm([0.01, 0.003, ...Array(15).fill(0.5)], weights)[1]!, 0.048, 1e-12);
  // If it is not, they have half of it.
  assertAlmostEquals(holm([0.5, 0.001, ...Array(15).fill(0.5)], weights)[1]!, 0.032, 1e-12);
});

Deno.test("the share of a test that is planned is the one that it will have", () => {
  const weights = weighTests(MANY, "overall");
  const total = weights.reduce((sum, weight) => sum + weight);
  assertEquals(shareOf(17, { isHeadline: true }), weights[0]! / total);
  assertEquals(shareOf(17, { isHeadline: false }), weights[1]! / total);
  assertEquals(shareOf(1, { isHeadline: false }), 1);
});

Deno.test("without a headline, and for two scores, all tests are alike", () => {
  assertEquals(weighTests(["a", "b", "c"]), [1, 1, 1]);
  assertEquals(weighTests(["a", "b", "c"], "overall"), [1, 1, 1]);
  assertEquals(weighTests(["overall", "a"], "overall"), [1, 1]);
  assertEquals(weighTests(["overall"], "overall"), [1]);
});

Deno.test("equal models get a verdict in any score in 5 % of comparisons at most", () => {
  const random = createRandom(1);
  const weights = weighTests(MANY, "overall");
  const ROUNDS = 20_000;
  let wrong = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const found = holm(MANY.map(() => random() / 2 ** 32), weights);
    if (found.some((p) => p <= 0.05)) wrong++;
  }
  const share = wrong / ROUNDS;
  assert(share > 0.045 && share < 0.0535, `${share}`); // three standard errors
});
