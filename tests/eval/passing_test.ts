import { assert } from "@std/assert";
import { reaches } from "../../eval/passing.ts";

Deno.test("a mean that lost its last digit to rounding reaches the threshold", () => {
  const mean = (0.7 + 0.7 + 0.7) / 3;
  assert(mean < 0.7, "else this test shows nothing");
  assert(reaches(mean, 0.7));
});

Deno.test("what is below by more than rounding does not reach the threshold", () => {
  assert(!reaches(0.7 - 1e-9, 0.7));
  assert(!reaches(0, 0.1));
});
