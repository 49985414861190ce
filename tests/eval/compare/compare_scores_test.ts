import { assertAlmostEquals, assertEquals } from "@std/assert";
import { holm } from "../../../eval/compare/compare_scores.ts";

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
