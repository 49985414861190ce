import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { holm } from "../../../eval/compare/statistics/holm.ts";
import { createRandom } from "../../../eval/compare/statistics/random.ts";

const ALPHA = 0.05;

Deno.test("p-values are corrected as R's p.adjust(method = 'holm') does", () => {
  const corrected = holm([0.01, 0.04, 0.03, 0.005], ALPHA);
  for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) {
    assertAlmostEquals(corrected[index]!.p, expected, 1e-12);
  }
});

Deno.test("a single p-value stays as it is, and none exceeds 1", () => {
  assertEquals(holm([0.04], ALPHA), [{ p: 0.04, level: 0.05 }]);
  assertEquals(holm([0.9, 0.8], ALPHA).map(({ p }) => p), [1, 1]);
  assertEquals(holm([], ALPHA), []);
});

Deno.test("a p-value is below its level exactly if the corrected one is below 0.05", () => {
  const random = createRandom(2);
  for (let round = 0; round < 2000; round++) {
    const values = Array.from({ length: 1 + round % 9 }, () => (random() / 2 ** 32) ** 3);
    for (const [index, { p, level }] of holm(values, ALPHA).entries()) {
      assertEquals(values[index]! < level, p < ALPHA, `${values}`);
    }
  }
});

Deno.test("equal models have any small p-value in 5 % of comparisons at most", () => {
  const random = createRandom(1);
  const ROUNDS = 20_000;
  let wrong = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const values = Array.from({ length: 16 }, () => random() / 2 ** 32);
    if (holm(values, ALPHA).some(({ p }) => p < ALPHA)) wrong++;
  }
  const share = wrong / ROUNDS;
  assert(share > 0.045 && share < 0.0535, `${share}`); // three standard errors
});
