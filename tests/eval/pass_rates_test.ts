import { assertAlmostEquals, assertEquals } from "@std/assert";
import { passRates } from "../../eval/pass_rates.ts";

Deno.test("three of five attempts pass: the unbiased estimators, computed by hand", () => {
  const { pass_rate, pass_at_k, pass_hat_k } = passRates([0.9, 0.7, 0.69, 0.1, 1], 0.7);
  assertAlmostEquals(pass_rate!, 0.6, 1e-12);
  // k = 2: C(2,2)/C(5,2) = 1/10 of the pairs hold no pass, C(3,2)/C(5,2) = 3/10 hold two.
  const expected: [k: number, at: number, hat: number][] = [
    [1, 0.6, 0.6],
    [2, 0.9, 0.3],
    [3, 1, 0.1],
    [4, 1, 0],
    [5, 1, 0],
  ];
  for (const [k, at, hat] of expected) {
    assertAlmostEquals(pass_at_k[k]!, at, 1e-12);
    assertAlmostEquals(pass_hat_k[k]!, hat, 1e-12);
  }
  assertEquals(Object.keys(pass_at_k), ["1", "2", "3", "4", "5"]);
});

Deno.test("a thousand attempts overflow nothing", () => {
  const { pass_at_k, pass_hat_k } = passRates(new Array(1000).fill(1), 0.7);
  assertEquals([pass_at_k[1000], pass_hat_k[1000]], [1, 1]);
});

Deno.test("an attempt without an overall does not take part", () => {
  assertEquals(passRates([null, 1], 0.7).pass_rate, 1);
  assertEquals(passRates([null], 0.7), {
    pass_threshold: 0.7,
    pass_rate: null,
    pass_at_k: {},
    pass_hat_k: {},
  });
});

Deno.test("an attempt whose mean lost its last digit to rounding passes", () => {
  assertEquals(passRates([(0.7 + 0.7 + 0.7) / 3], 0.7).pass_rate, 1);
});
