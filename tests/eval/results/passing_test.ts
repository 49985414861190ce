import { assert, assertEquals } from "@std/assert";
import { holdAgainst, reaches } from "../../../eval/results/passing.ts";

Deno.test("a mean that lost its last digit to rounding reaches the threshold", () => {
  const mean = (0.7 + 0.7 + 0.7) / 3;
  assert(mean < 0.7, "else this test shows nothing");
  assert(reaches(mean, 0.7));
});

Deno.test("what is below by more than rounding does not reach the threshold", () => {
  assert(!reaches(0.7 - 1e-9, 0.7));
  assert(!reaches(0, 0.1));
});

Deno.test("a mean with missing values passes or fails only if they could not change that", () => {
  const cases: [bounds: [number, number] | null, standing: string][] = [
    [null, "passed"],
    [[0.7, 0.9], "passed"],
    [[0.6, 0.9], "undecided"],
    [[0.1, 0.69], "below"],
  ];
  for (const [bounds, standing] of cases) {
    assertEquals(holdAgainst({ mean: 0.8, bounds }, 0.7), standing, `${bounds}`);
  }
  assertEquals(holdAgainst({ mean: null, bounds: [0, 1] }, 0.7), "undecided");
  assertEquals(holdAgainst({ mean: null, bounds: null }, 0.7), "unscored");
  assertEquals(holdAgainst(undefined, 0.7), "unscored");
  assertEquals(holdAgainst({ mean: 0.6, bounds: null }, 0.7), "below");
});
